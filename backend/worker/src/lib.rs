//! Reeve's loops: schedule, seal, reap nodes, expire, and what time does to approvals.
//!
//! A loop waits, a step works: each step can be called by itself and never sleeps. This crate refuses to speak SQL and
//! to know HTTP.

pub mod approvals;
pub mod expire;
pub mod reap;
pub mod run;
pub mod schedule;
pub mod seal;

pub use run::run_all;
