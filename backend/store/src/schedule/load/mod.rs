//! What the planner sees, table by table: everything, or the rows that are named.
//!
//! Whoever reads one more column or table here lets a trigger tell of its changes too (`planner_changes`); in debug
//! builds each tick compares what it kept with what is read anew.

pub(super) mod calendar;
pub(super) mod jobs;
mod members;
pub(super) mod nodes;
pub(super) mod settings;
