//! The audit log: who did what, what was denied, and the proof that nobody changed it afterwards.

pub(crate) mod checkpoints;
pub(crate) mod export;
mod filter;
pub(crate) mod keys;
pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod view;
