//! Scenario files: small stories with expected outcomes, run on production's planner with a virtual
//! clock and no database, so that a policy can be tested before it is applied and every bug becomes one
//! file.
//!
//! [`parse`] reads a file, [`run`] tells one story, [`FileReport`] does both for a whole file.
//! [`Cluster`] is the cluster in memory, also for random walks.
//!
//! This module refuses to plan, to read files (the command line does), and to pass an expectation that
//! it cannot evaluate.

mod calendar;
pub mod cluster;
mod explain;
pub mod format;
mod parse;
mod placing;
pub mod random;
mod read;
mod refusal;
mod report;
mod run;
mod verdict;
mod world;
mod yaml;

pub use cluster::Cluster;
pub use format::Scenario;
pub use parse::{parse, parse_setups};
pub use report::FileReport;
pub use run::{Failure, Outcome, Planner, StepReport, beginning, run};
pub use yaml::{FormatError, Pos};
