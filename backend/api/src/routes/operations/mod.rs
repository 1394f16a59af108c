//! Long work: asked for, watched, cancelled, fetched.

pub(crate) mod cancel;
pub(crate) mod create;
pub(crate) mod list;
mod load;
pub(crate) mod result;
pub(crate) mod show;
pub(crate) mod view;
