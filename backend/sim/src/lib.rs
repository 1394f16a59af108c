//! Generated states and workloads that drive the planner without a database.
//!
//! This crate refuses to talk to a server: it knows `reeve-core` only.

pub mod cluster;
