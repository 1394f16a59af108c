//! Nodes: list, show, edit, cordon, uncordon, drain, remove.

pub(crate) mod cordon;
pub(crate) mod drain;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod remove;
pub(crate) mod set_state;
pub(crate) mod show;
pub(crate) mod uncordon;
pub(crate) mod used;
mod view;
