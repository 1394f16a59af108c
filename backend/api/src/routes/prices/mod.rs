//! The price book: everybody may read it, and who keeps the books changes it.

pub(crate) mod put;
pub(crate) mod show;
pub(crate) mod versions;
pub(crate) mod view;
