//! The scheduling tick's two ends: the world as the planner sees it, and a plan made true.

pub mod apply;
pub mod changes;
mod diff_capacity;
mod diff_guarantees;
mod diff_loans;
mod diff_planned;
pub mod explanations;
mod kept;
mod load;
pub mod look;
mod place;
mod reclaim;
pub mod snapshot;
pub mod tick;
