//! The planner's policy.

pub(crate) mod put;
pub(crate) mod show;
pub(crate) mod view;
