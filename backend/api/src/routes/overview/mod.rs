//! The first page: is the pool healthy, who is short, what needs me?

pub(crate) mod history;
pub(crate) mod needs;
pub(crate) mod show;
