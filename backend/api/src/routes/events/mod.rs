//! What happened, as pages and live.

pub(crate) mod list;
mod stream;
mod topic;
pub(crate) mod view;
