//! The planner's policy.

mod approvals;
pub(crate) mod effective;
pub(crate) mod put;
pub(crate) mod show;
pub(crate) mod versions;
pub(crate) mod view;
