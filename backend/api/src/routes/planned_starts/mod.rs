//! Starts that are planned.

pub(crate) mod list;
pub(crate) mod view;
