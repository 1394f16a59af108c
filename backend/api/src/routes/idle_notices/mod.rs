//! Jobs whose GPUs compute nothing, and what follows.

pub(crate) mod list;
pub(crate) mod view;
