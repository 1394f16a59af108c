//! The planner's input: everything that is true at one moment, loaded in one transaction.
//!
//! Ids stay outside the planner's inner loops: `plan()` reduces this to small integers first.

use crate::eviction::EvictionCause;
use crate::id::{
    GpuId, JobId, MaintenanceWindowId, NodeId, PoolId, QueueId, ReclaimId, ReservationId, TeamId, UserId,
};
use crate::job::{CheckpointMode, NvLink, Shape};
use crate::kind::Kind;
use crate::node::NodeState;
use crate::policy::Policy;
use crate::priority::Priority;
use crate::queue::{QueueOrder, QueueState};
use crate::units::{Mib, MilliCpu, MilliGpu};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that is true at `now`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub now: DateTime<Utc>,
    pub policy: Policy,
    pub pools: Vec<Pool>,
    pub nodes: Vec<Node>,
    pub teams: Vec<Team>,
    pub quotas: Vec<Quota>,
    pub queues: Vec<Queue>,
    /// Queued and placed jobs; never finished ones.
    pub jobs: Vec<Job>,
    pub nominations: Vec<Nomination>,
    /// When rebalancing evicted during the last hour: the policy caps its rate.
    #[serde(default)]
    pub rebalance_evictions_last_hour: Vec<DateTime<Utc>>,
    /// When consolidation moved jobs during the last hour.
    #[serde(default)]
    pub consolidation_moves_last_hour: Vec<DateTime<Utc>>,
    /// Those that are not over.
    #[serde(default)]
    pub reservations: Vec<Reservation>,
    /// Those that are not over.
    #[serde(default)]
    pub maintenance_windows: Vec<MaintenanceWindow>,
}

/// From `starts_at` to `ends_at`, so many GPUs of the pool serve the team and those below it first. It gives space, not
/// quota, and evicts nobody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    pub id: ReservationId,
    pub pool: PoolId,
    pub team: TeamId,
    /// Whole GPUs.
    pub gpus: u32,
    pub starts_at: DateTime<Utc>,
    pub ends_at: DateTime<Utc>,
}

/// From `starts_at` to `ends_at` these nodes are drained and take no work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceWindow {
    pub id: MaintenanceWindowId,
    pub nodes: Vec<NodeId>,
    pub starts_at: DateTime<Utc>,
    pub ends_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    pub id: PoolId,
    pub slug: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub id: NodeId,
    pub name: String,
    pub pool: PoolId,
    pub state: NodeState,
    pub cpu: MilliCpu,
    pub memory: Mib,
    pub gpus: Vec<Gpu>,
    pub labels: BTreeMap<String, String>,
    /// Level name → place, for example `rack → r1`.
    pub topology: BTreeMap<String, String>,
    /// NVLink domains: indices of GPUs that are linked.
    pub nvlink: Vec<Vec<u32>>,
    pub rdma: bool,
    pub datasets: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    pub id: GpuId,
    /// The GPU's index on its node.
    pub index: u32,
    pub model: String,
    pub memory: Mib,
    /// False: runs what it has, takes nothing new, and is no capacity.
    pub healthy: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    pub id: TeamId,
    pub slug: String,
    pub parent: Option<TeamId>,
}

/// A team's quota in one pool. A (team, pool) without a row has guaranteed 0, no limits, weight 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    pub team: TeamId,
    pub pool: PoolId,
    pub guaranteed: MilliGpu,
    /// Most above guaranteed; `None` = no limit.
    pub borrow_limit: Option<MilliGpu>,
    /// Most of the guarantee that others may use; `None` = all.
    pub lend_limit: Option<MilliGpu>,
    pub weight: u32,
    /// The quota was lowered with `drain: true`: work above it leaves, gradually.
    pub drain: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    pub id: QueueId,
    pub slug: String,
    pub team: TeamId,
    pub order: QueueOrder,
    pub state: QueueState,
    pub max_running_jobs: Option<u32>,
    pub max_running_jobs_per_user: Option<u32>,
    pub max_running_gpus: Option<MilliGpu>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub id: JobId,
    pub name: String,
    pub team: TeamId,
    pub queue: QueueId,
    pub user: UserId,
    pub kind: Kind,
    /// Against everybody.
    pub priority: Priority,
    /// Among its own team's jobs, where that is more.
    #[serde(default)]
    pub team_priority: Option<Priority>,
    /// Kept over requeues: a job's age.
    pub submitted_at: DateTime<Utc>,
    /// What each member asks for.
    pub shape: Shape,
    pub min_replicas: u32,
    pub max_replicas: u32,
    /// Acceptable pools, in the job's order. Empty = any pool in which its team may use GPUs.
    pub pools: Vec<PoolId>,
    pub gpu_model: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub require_topology: Option<String>,
    pub prefer_topology: Option<String>,
    #[serde(default)]
    pub nvlink: NvLink,
    pub rdma: bool,
    pub time_limit_secs: Option<i64>,
    /// False: never evicted, so it may live only inside the guarantee.
    pub preemptible: bool,
    /// An exception holds: it is not evicted, on a loan either.
    #[serde(default)]
    pub never_evict: bool,
    /// False: waits even if victims exist.
    pub evict_others: bool,
    /// False: cancelled when evicted.
    pub requeue: bool,
    pub checkpoint: CheckpointMode,
    pub last_checkpoint_at: Option<DateTime<Utc>>,
    /// The current or last run's number; 0 = never started.
    pub run_number: u32,
    pub evictions_in_last_day: u32,
    /// Its GPUs have computed nothing for long, and its owner was told: it gives way first.
    #[serde(default)]
    pub idle: bool,
    /// The user asked it to stay in line without starting.
    pub held: bool,
    /// Empty = pending.
    pub members: Vec<Member>,
}

impl Job {
    /// A job that holds nothing and waits.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.members.is_empty()
    }

    /// Its priority among its own team's jobs.
    #[must_use]
    pub fn priority_in_team(&self) -> Priority {
        self.team_priority.map_or(self.priority, |raised| raised.max(self.priority))
    }

    /// All that it holds it leaves, to run again where space is promised to it.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        let moves = |leaving: &Leaving| leaving.cause == Some(EvictionCause::Consolidation);
        !self.is_pending() && self.members.iter().all(|member| member.leaving.as_ref().is_some_and(moves))
    }

    /// The priority that such an eviction compares.
    #[must_use]
    pub fn priority_for(&self, cause: EvictionCause) -> Priority {
        if cause == EvictionCause::Preemption { self.priority_in_team() } else { self.priority }
    }
}

/// One placed member of a gang.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Rank in the gang, from 0.
    pub index: u32,
    pub node: NodeId,
    pub gpus: Vec<GpuSlice>,
    /// When its run was placed; minimum run time counts from the gang's start.
    pub started_at: DateTime<Utc>,
    /// Set once it has been asked to leave.
    pub leaving: Option<Leaving>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaving {
    pub leave_by: DateTime<Utc>,
    /// `None` = cancelled by its user or finishing by itself.
    pub cause: Option<EvictionCause>,
    /// The nomination it makes room for.
    pub evictor: Option<JobId>,
}

/// A part of one GPU, or all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GpuSlice {
    pub gpu: GpuId,
    pub milli: MilliGpu,
    pub memory: Mib,
}

/// Space promised to a pending job: nobody else may start in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nomination {
    pub job: JobId,
    pub reclaim: ReclaimId,
    pub members: Vec<Placement>,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}

/// Where one member goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    pub index: u32,
    pub node: NodeId,
    pub gpus: Vec<GpuSlice>,
}
