//! The planner held against its conformance rows, its properties and its judge.

mod format;
mod judge;
mod properties;
mod scenarios;
