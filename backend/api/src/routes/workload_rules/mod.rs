//! Rules by which pipelines come in with a token of their own platform.

pub(crate) mod body;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod view;
