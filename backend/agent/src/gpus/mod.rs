//! Where a node's GPUs come from: the driver, or a description of some that are not there.
//!
//! It refuses to guess: a driver that can't be asked is an error, not an empty list.

mod nvml;
mod simulated;
mod source;

pub(crate) use nvml::NvmlGpus;
pub(crate) use simulated::SimulatedGpus;
pub(crate) use source::{GpuSource, GpuSpec, GpuUse, Held};
