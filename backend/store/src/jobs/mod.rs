//! Jobs: lists, pages, and what people do to them.

pub mod act;
pub mod admission;
pub mod list;
pub mod row;
pub mod show;
