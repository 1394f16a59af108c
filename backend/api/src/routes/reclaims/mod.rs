//! Reclaims: list, show.

pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod view;
