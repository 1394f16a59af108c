//! The simulator: workloads that drive production's planner on a virtual clock, without a database.
//!
//! A workload is read from a trace ([`trace`], [`workload`]), cut from a demand curve ([`demand`]) or made up
//! ([`generate`]). [`setup`] builds the cluster, from a file in the scenario format's keys or from tenants and nodes.
//! [`engine::simulate`] runs the one on the other: events of one moment are carried out, then the planner plans once,
//! as it would in production, and the plan is applied to the scenarios' cluster in memory. [`record`] counts GPU time
//! exactly; [`figures`], [`series`] and [`page`] tell what came of it. [`reference`] holds schedulers without loans
//! to compare with; [`cluster`] makes single states on which one planning cycle is measured.
//!
//! What is simulated, and what is not: a job runs as long as the trace says, on whatever GPUs; an evicted job keeps
//! computing until it leaves, goes on from what it had saved, and pays nothing for starting again; members of a gang
//! notice a lost node at once. Jobs above a node's GPUs become gangs of equal members (12 of 8 are 2 × 6).
//!
//! This crate refuses to talk to a server and to decide anything: it knows `reeve-core` only.

pub mod cluster;
pub mod cycle;
pub mod demand;
pub mod duty;
pub mod engine;
mod event;
pub mod faults;
pub mod figures;
pub mod generate;
pub mod intervals;
mod owed;
pub mod packing;
pub mod page;
mod picture;
pub mod record;
pub mod reference;
mod run;
pub mod series;
pub mod setup;
pub mod trace;
pub mod walks;
pub mod workload;

pub use run::Run;

#[cfg(test)]
mod tests;
