//! Statements: a month of each team, closed by two people, and corrected by new lines after that.

pub(crate) mod close;
pub(crate) mod correct;
pub(crate) mod list;
mod month_path;
pub(crate) mod months;
pub(crate) mod reopen;
pub(crate) mod show;
pub(crate) mod view;
