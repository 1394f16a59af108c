//! The caller themselves.

pub(crate) mod edit;
pub(crate) mod password;
pub(crate) mod show;
pub(crate) mod view;
