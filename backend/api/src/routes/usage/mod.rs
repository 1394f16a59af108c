//! What was used, by whom, on whose guarantee, and what it cost.

pub(crate) mod amounts_view;
pub(crate) mod list;
pub(crate) mod span;
pub(crate) mod view;
