//! How a node's GPUs are used, moment by moment.

use crate::report::MemberKey;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use reeve_core::idle::SAMPLE_EVERY_SECS;

/// Most samples in one message.
pub const MOST_SAMPLES: usize = 4_096;

/// `POST /agent/v1/samples`: samples since the last message, oldest first. A repeated sample (same GPU, same moment) is
/// kept once; one that is too old to be kept is dropped and counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Samples {
    pub samples: Vec<GpuSample>,
}

/// One GPU at one moment. What a device does not tell is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GpuSample {
    /// By the server's clock, as the agent knows it: the same when the sample is sent again.
    pub at: DateTime<Utc>,
    pub index: u32,
    /// Thousandths of the time since the last look in which a kernel ran.
    #[serde(default)]
    pub compute_permille: Option<u32>,
    #[serde(default)]
    pub memory_used_mib: Option<i64>,
    #[serde(default)]
    pub power_milliwatts: Option<i64>,
    #[serde(default)]
    pub temperature_celsius: Option<i32>,
    /// Sent and received over PCI Express.
    #[serde(default)]
    pub pcie_kib_per_s: Option<i64>,
    /// Members that run on it.
    #[serde(default)]
    pub members: Vec<MemberKey>,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SamplesKept {
    pub kept: u64,
    /// Too old, of the future, of an unknown GPU, or known already.
    pub dropped: u64,
}
