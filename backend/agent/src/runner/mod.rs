//! How members run: as processes, or as timers that behave like jobs.
//!
//! A runner refuses to decide when a member ends: it starts, looks, signals and forgets as [`crate::member`]
//! tells it.

mod process;
mod simulated;
mod traits;

pub(crate) use process::{JobUser, ProcessRunner};
pub(crate) use simulated::SimulatedRunner;
pub(crate) use traits::{Notice, Observed, Runner, member_folder};
