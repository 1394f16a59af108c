//! Budgets: what a team may use in a month, and what happens then.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod list;
mod rights;
pub(crate) mod show;
pub(crate) mod view;
