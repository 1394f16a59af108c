//! The planner held against its conformance rows, its properties and its judge.
#![allow(
    clippy::unwrap_used,
    clippy::too_many_lines,
    clippy::type_complexity,
    reason = "tests: a failed unwrap is a failed test, and tables of cases are long"
)]

mod approvals;
mod consolidation;
mod format;
mod judge;
mod properties;
mod scenarios;
mod what_if;
