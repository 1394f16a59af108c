//! Queues: list, create, show, edit, delete, line.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod line;
pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod terms;
pub(crate) mod view;
