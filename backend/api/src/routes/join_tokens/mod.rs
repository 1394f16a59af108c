//! Join tokens: list, create, revoke.

pub(crate) mod create;
pub(crate) mod list;
pub(crate) mod revoke;
pub(crate) mod view;
