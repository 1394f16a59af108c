//! `reeve audit …`: read the log, take it along, and prove that nobody changed it.

pub(crate) mod command;
mod export;
mod list;
mod rotate_key;
mod verify;
