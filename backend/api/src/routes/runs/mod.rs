//! Runs of all jobs over time.

pub(crate) mod list;
mod span;
pub(crate) mod view;
