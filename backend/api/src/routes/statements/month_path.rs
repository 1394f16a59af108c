//! The month in an address, and what may be done to it.

use crate::problem::{Code, Problem, Result};
use reeve_core::money::month::Month;

/// # Errors
/// 404 for what is no month.
pub(super) fn month(text: &str) -> Result<Month> {
    text.parse().map_err(|_| Problem::not_found())
}

pub(super) fn closed(month: Month) -> Problem {
    Problem::new(Code::MonthClosed).detail(format!("{month} is closed")).param("month", month.to_string())
}
