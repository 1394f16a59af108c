//! What the agent remembers of a member, on disk: enough to go on after its own restart.
//!
//! It refuses to hold the job's environment, which may carry secrets.

use crate::boot_time::BootTime;
use chrono::{DateTime, Utc};
use reeve_core::job::CheckpointMode;
use reeve_wire::desired::MemberSpec;
use reeve_wire::report::{MemberEnd, MemberKey};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) key: MemberKey,
    pub(crate) boot_id: String,
    pub(crate) job_name: String,
    pub(crate) checkpoint: CheckpointMode,
    pub(crate) checkpoint_signal: String,
    pub(crate) time_limit_secs: Option<i64>,
    #[serde(default)]
    pub(crate) gpu_indices: Vec<u32>,
    /// How busy it wants simulated GPUs to look.
    #[serde(default)]
    pub(crate) simulated_permille: Option<u32>,
    #[serde(default)]
    pub(crate) pid: Option<i32>,
    #[serde(default)]
    pub(crate) started: Option<BootTime>,
    /// The same by the server's clock, settled once so that every report says the same.
    #[serde(default)]
    pub(crate) started_at: Option<DateTime<Utc>>,
    #[serde(default)]
    pub(crate) leave: Option<Leave>,
    #[serde(default)]
    pub(crate) stop: Option<Stop>,
    /// The server asked for the end before it came.
    #[serde(default)]
    pub(crate) asked: bool,
    #[serde(default)]
    pub(crate) timed_out: bool,
    #[serde(default)]
    pub(crate) lease_lost: bool,
    /// The last change of its checkpoint file that was seen.
    #[serde(default)]
    pub(crate) acknowledged: Option<i64>,
    /// A checkpoint that no report has told of yet, and when the last one was told.
    #[serde(default)]
    pub(crate) checkpoint_untold: bool,
    #[serde(default)]
    pub(crate) checkpoint_told: Option<BootTime>,
    #[serde(default)]
    pub(crate) checkpointed_at: Option<DateTime<Utc>>,
    #[serde(default)]
    pub(crate) end: Option<MemberEnd>,
    /// The server has recorded the end.
    #[serde(default)]
    pub(crate) settled: bool,
}

/// Told to leave by a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Leave {
    pub(crate) leave_by: DateTime<Utc>,
    pub(crate) checkpoint: bool,
    pub(crate) cause: String,
    pub(crate) kill_after_secs: u32,
    /// The checkpoint signal was sent: it is sent once.
    pub(crate) signalled: bool,
    /// The job said that its checkpoint is written.
    pub(crate) acknowledged: bool,
}

/// On its way out: TERM, then KILL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stop {
    pub(crate) kill_after_secs: u32,
    /// When TERM reached it.
    pub(crate) termed: Option<BootTime>,
    pub(crate) killed: Option<BootTime>,
}

impl Record {
    pub(crate) fn new(key: MemberKey, boot_id: String, spec: &MemberSpec) -> Self {
        Self {
            key,
            boot_id,
            job_name: spec.job_name.clone(),
            checkpoint: spec.checkpoint,
            checkpoint_signal: spec.checkpoint_signal.clone(),
            time_limit_secs: spec.time_limit_secs,
            gpu_indices: spec.gpu_indices.clone(),
            simulated_permille: spec
                .env
                .get("REEVE_SIM_USE_PERMILLE")
                .and_then(|text| text.parse().ok())
                .map(|permille: u32| permille.min(1_000)),
            pid: None,
            started: None,
            started_at: None,
            leave: None,
            stop: None,
            asked: false,
            timed_out: false,
            lease_lost: false,
            acknowledged: None,
            checkpoint_untold: false,
            checkpoint_told: None,
            checkpointed_at: None,
            end: None,
            settled: false,
        }
    }
}
