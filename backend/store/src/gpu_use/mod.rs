//! How GPUs are used: samples as they come, what is rolled up of them, and for how long each is kept.
//!
//! It refuses to judge: whether a job is idle is for `reeve_core::idle` to say.

pub mod figures;
pub mod gauges;
pub mod keep;
pub mod read;
pub mod receive;
