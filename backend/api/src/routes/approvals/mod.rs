//! The inbox: what waits for the caller.

pub(crate) mod list;
