//! Reeve's loops: schedule, seal, sign checkpoints, settle the ledger, export, reap nodes, expire, what time does to
//! approvals, jobs that are idle, and telling others.
//!
//! A loop waits, a step works: each step can be called by itself and never sleeps. This crate refuses to speak SQL and
//! to serve HTTP; what it sends goes through [`notify::Outbound`].

pub mod approvals;
pub mod checkpoint;
pub mod expire;
pub mod export;
pub mod idle;
pub mod ledger;
pub mod notify;
pub mod reap;
mod rest;
pub mod run;
pub mod schedule;
pub mod seal;

pub use run::run_all;
