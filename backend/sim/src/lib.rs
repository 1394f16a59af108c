//! Generated states and workloads that drive the planner without a database.
//!
//! This crate refuses to talk to a server: it knows `reeve-core` only.

pub mod cluster;
pub mod cycle;
pub mod demand;
pub mod engine;
mod event;
pub mod faults;
pub mod figures;
pub mod generate;
mod owed;
pub mod page;
mod picture;
pub mod record;
pub mod reference;
mod run;
pub mod series;
pub mod setup;
pub mod trace;
pub mod workload;

pub use run::Run;

#[cfg(test)]
mod tests;
