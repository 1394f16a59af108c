//! Runs of all jobs over time.

pub(crate) mod list;
pub(crate) mod view;
