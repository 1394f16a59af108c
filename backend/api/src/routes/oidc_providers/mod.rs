//! Identity providers, and what their groups give.

pub(crate) mod body;
pub(crate) mod check;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod view;
