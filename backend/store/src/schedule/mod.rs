//! The scheduling tick's two ends: the world as the planner sees it, and a plan made true.

pub mod apply;
mod calendar;
mod diff_capacity;
mod diff_loans;
mod diff_planned;
pub mod explanations;
pub mod look;
mod place;
mod reclaim;
pub mod snapshot;
pub mod tick;
