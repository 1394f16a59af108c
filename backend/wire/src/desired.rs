//! What a node should run.

use chrono::{DateTime, Utc};
use reeve_core::job::CheckpointMode;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

/// `GET /agent/v1/desired?generation=N&wait_secs=S` (long poll: answers when the node's generation is no longer
/// N, or after S ≤ 30 seconds with what is). Everything that the node should run: what it runs beside this, it
/// stops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Desired {
    /// Grows with each change. An agent ignores an older one than it has.
    pub generation: i64,
    pub members: Vec<DesiredMember>,
}

/// One member of a gang, on this node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DesiredMember {
    pub job_id: Uuid,
    /// The run's number: a report for another run changes nothing.
    pub run_number: u32,
    /// Rank in the gang.
    pub member: u32,
    pub order: Order,
    pub spec: MemberSpec,
}

/// What to do with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    Run,
    /// Send the checkpoint signal once, let it leave by itself until `leave_by`, then TERM, then KILL after
    /// `kill_after_secs`.
    Leave {
        leave_by: DateTime<Utc>,
        checkpoint: bool,
        cause: String,
        kill_after_secs: u32,
    },
    /// TERM now, KILL after `kill_after_secs`.
    Stop {
        cause: String,
        kill_after_secs: u32,
    },
}

/// How to start it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MemberSpec {
    pub job_name: String,
    pub team: String,
    pub queue: String,
    pub kind: String,
    /// argv; the first is looked up in PATH.
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub working_dir: Option<String>,
    /// Indices of the node's GPUs, in order: `CUDA_VISIBLE_DEVICES`.
    pub gpu_indices: Vec<u32>,
    /// For a share: thousandths of each GPU.
    #[serde(default)]
    pub gpu_milli: Option<i64>,
    #[serde(default)]
    pub gpu_memory_mib: Option<i64>,
    pub cpu_milli: i64,
    pub memory_mib: i64,
    /// Members in the gang, and this run's place in the job's history, from 1.
    pub replicas: u32,
    pub attempt: u32,
    /// True when an earlier run was evicted or lost: `REEVE_RESUME=1`.
    pub resume: bool,
    #[schema(value_type = String)]
    pub checkpoint: CheckpointMode,
    /// A signal's name without `SIG`, for example `USR1`.
    pub checkpoint_signal: String,
    #[serde(default)]
    pub time_limit_secs: Option<i64>,
}
