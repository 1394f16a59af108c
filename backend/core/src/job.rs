//! Jobs, runs and members: their states and what a job asks for.

use crate::text_enum;
use crate::units::{Mib, MilliCpu, MilliGpu};
use serde::{Deserialize, Serialize};

text_enum! {
    /// Where a job stands.
    JobState {
        Queued = "queued",
        /// Placed; its agents have been told, not all members run yet.
        Starting = "starting",
        Running = "running",
        /// Asked to leave: its GPUs are neither free nor offered until every member is confirmed gone.
        Leaving = "leaving",
        Succeeded = "succeeded",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl JobState {
    /// Holds GPUs.
    #[must_use]
    pub const fn is_placed(self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Leaving)
    }

    /// Will never run again.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

text_enum! {
    /// How a run ended, or that it has not.
    RunState {
        Starting = "starting",
        Running = "running",
        Leaving = "leaving",
        Succeeded = "succeeded",
        Failed = "failed",
        Cancelled = "cancelled",
        /// Evicted: not a failure.
        Evicted = "evicted",
        /// Its node was lost: not a failure.
        Lost = "lost",
    }
}

text_enum! {
    /// Where one member of a gang stands, as its agent reports.
    MemberState {
        /// Placed by the planner; the agent has not confirmed.
        Assigned = "assigned",
        Starting = "starting",
        Running = "running",
        /// Told to checkpoint and leave; still alive.
        Leaving = "leaving",
        /// Confirmed gone.
        Ended = "ended",
    }
}

text_enum! {
    /// How a job saves its work.
    CheckpointMode {
        /// It does not: eviction loses everything since the start.
        None = "none",
        /// It saves when it gets the checkpoint signal.
        OnSignal = "on_signal",
        /// It saves by itself from time to time.
        Periodic = "periodic",
    }
}

text_enum! {
    /// How a member's GPUs should be linked to each other.
    NvLink {
        /// The best linked of those that are there.
        Preferred = "preferred",
        /// All in one NVLink domain of their node, or not at all.
        Required = "required",
    }
}

#[expect(clippy::derivable_impls, reason = "`text_enum!` gives no word a default")]
impl Default for NvLink {
    fn default() -> Self {
        Self::Preferred
    }
}

/// GPUs asked for by one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum GpuAsk {
    /// A CPU-only member.
    None,
    /// Whole GPUs on one node.
    Whole { gpus: u32 },
    /// The same share of each of `devices` different GPUs on one node.
    Share { devices: u32, milli: MilliGpu, memory: Mib },
}

impl GpuAsk {
    /// What the member is charged against quota.
    #[must_use]
    pub const fn milli(self) -> MilliGpu {
        match self {
            Self::None => MilliGpu::ZERO,
            Self::Whole { gpus } => MilliGpu::whole(gpus),
            Self::Share { devices, milli, .. } => milli.times(devices),
        }
    }

    /// How many different GPUs the member sits on.
    #[must_use]
    pub const fn devices(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Whole { gpus } => gpus,
            Self::Share { devices, .. } => devices,
        }
    }
}

/// What one member asks of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    pub gpus: GpuAsk,
    pub cpu: MilliCpu,
    pub memory: Mib,
}
