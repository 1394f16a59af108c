//! Budgets of high-priority GPU-hours.

pub(crate) mod delete;
pub(crate) mod list;
pub(crate) mod put;
pub(crate) mod view;
