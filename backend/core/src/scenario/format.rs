//! A scenario file's contents, typed. `SCENARIOS.md`'s words, one struct a section.
//!
//! This module refuses to resolve names: whether a job's team exists is the cluster's to say.

use super::yaml::Pos;
use crate::eviction::EvictionCause;
use crate::job::{CheckpointMode, GpuAsk};
use crate::kind::Kind;
use crate::node::NodeState;
use crate::policy::{KindOverrides, Policy, RuleOverrides};
use crate::priority::{Priority, PriorityClass};
use crate::queue::{QueueOrder, QueueState};
use crate::reason::ReasonCode;
use crate::schedule::plan::PoolMode;
use crate::units::{Mib, MilliCpu, MilliGpu};
use std::collections::BTreeMap;

/// One document of a scenario file.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub name: String,
    pub at: Pos,
    pub policy: PolicyPatch,
    pub pools: Vec<PoolSpec>,
    pub nodes: Vec<NodeSpec>,
    pub teams: Vec<TeamPatch>,
    pub queues: Vec<QueuePatch>,
    pub jobs: Vec<JobSpec>,
    pub reservations: Vec<ReservationSpec>,
    pub maintenance: Vec<MaintenanceSpec>,
    pub steps: Vec<Step>,
    /// Keys that were understood and that this version's planner does not act on.
    pub notes: Vec<String>,
}

/// What a policy section changes; applied over whatever was in force.
#[derive(Debug, Clone, Default)]
pub struct PolicyPatch {
    pub changes: Vec<PolicyChange>,
}

#[derive(Debug, Clone)]
pub enum PolicyChange {
    Reclaim(crate::policy::ReclaimMode),
    PreemptWithinTeam(crate::policy::PreemptWithinTeam),
    BorrowPreemption(Option<i32>),
    Rebalance(crate::policy::Rebalance),
    Consolidation(crate::policy::Consolidation),
    SurplusOrder(crate::policy::SurplusOrder),
    Placement(crate::policy::Placement),
    Backfill(crate::policy::Backfill),
    NominationTimeout(i64),
    MaxEvictionsPerDay(u32),
    /// For every kind.
    Grace(i64),
    MinRuntime(i64),
    Kind(Kind, RuleOverrides),
    Team(String, KindOverrides),
    Queue(String, KindOverrides),
}

impl PolicyPatch {
    pub(super) fn apply(&self, policy: &mut Policy) {
        for change in &self.changes {
            change.apply(policy);
        }
    }

    /// The ceilings that the file itself sets.
    pub(super) fn ceilings(&self) -> impl Iterator<Item = (Kind, PriorityClass)> + '_ {
        self.changes.iter().filter_map(|change| match change {
            PolicyChange::Kind(kind, own) => own.ceiling.map(|class| (*kind, class)),
            _ => None,
        })
    }
}

impl PolicyChange {
    fn apply(&self, policy: &mut Policy) {
        match self {
            Self::Reclaim(mode) => policy.reclaim = *mode,
            Self::PreemptWithinTeam(mode) => policy.preempt_within_team = *mode,
            Self::BorrowPreemption(max) => policy.borrow_preemption_max_priority = *max,
            Self::Rebalance(mode) => policy.rebalance = *mode,
            Self::Consolidation(mode) => policy.consolidation = *mode,
            Self::SurplusOrder(order) => policy.surplus_order = *order,
            Self::Placement(placement) => policy.placement = *placement,
            Self::Backfill(backfill) => policy.backfill = *backfill,
            Self::NominationTimeout(secs) => policy.nomination_timeout_secs = *secs,
            Self::MaxEvictionsPerDay(count) => policy.max_evictions_per_job_per_day = *count,
            Self::Grace(secs) => {
                each_kind(policy, &RuleOverrides { grace_secs: Some(*secs), ..RuleOverrides::default() });
            }
            Self::MinRuntime(secs) => {
                each_kind(
                    policy,
                    &RuleOverrides { min_runtime_secs: Some(*secs), ..RuleOverrides::default() },
                );
            }
            Self::Kind(kind, own) => put_over(policy, *kind, own),
            Self::Team(team, own) => {
                policy.team_rules.insert(team.clone(), own.clone());
            }
            Self::Queue(queue, own) => {
                policy.queue_rules.insert(queue.clone(), own.clone());
            }
        }
    }
}

fn each_kind(policy: &mut Policy, own: &RuleOverrides) {
    for &kind in Kind::ALL {
        put_over(policy, kind, own);
    }
}

fn put_over(policy: &mut Policy, kind: Kind, own: &RuleOverrides) {
    let mut rules = policy.rules(kind);
    own.put_over(&mut rules);
    policy.kinds.insert(kind, rules);
}

#[derive(Debug, Clone)]
pub struct PoolSpec {
    pub name: String,
    pub gpu_model: String,
}

#[derive(Debug, Clone)]
pub struct NodeSpec {
    pub at: Pos,
    pub name: String,
    /// `None` = the only pool.
    pub pool: Option<String>,
    pub gpus: u32,
    pub gpu_memory: Mib,
    pub cpu: MilliCpu,
    pub memory: Mib,
    pub state: NodeState,
    pub labels: BTreeMap<String, String>,
    pub topology: BTreeMap<String, String>,
    pub nvlink: Vec<Vec<u32>>,
    pub rdma: bool,
    pub datasets: Vec<String>,
}

/// GPUs reserved for a team; seconds from the beginning.
#[derive(Debug, Clone)]
pub struct ReservationSpec {
    pub at: Pos,
    /// `None` = the only pool.
    pub pool: Option<String>,
    pub team: String,
    pub gpus: u32,
    pub from_secs: i64,
    pub to_secs: i64,
}

/// A maintenance window; seconds from the beginning.
#[derive(Debug, Clone)]
pub struct MaintenanceSpec {
    pub at: Pos,
    pub nodes: Vec<String>,
    pub from_secs: i64,
    pub to_secs: i64,
}

/// A value for every pool, or one for each pool named.
#[derive(Debug, Clone)]
pub enum PerPool<T> {
    Every(T),
    Each(Vec<(String, Pos, T)>),
}

/// A team, or what `set` changes of it.
#[derive(Debug, Clone)]
pub struct TeamPatch {
    pub at: Pos,
    pub name: String,
    /// `set: {teams: {b: null}}` deletes the team.
    pub delete: bool,
    pub parent: Option<Option<String>>,
    pub guaranteed: Option<PerPool<MilliGpu>>,
    pub borrow_limit: Option<PerPool<Option<MilliGpu>>>,
    pub lend_limit: Option<PerPool<Option<MilliGpu>>>,
    pub weight: Option<PerPool<u32>>,
    pub drain: Option<bool>,
    pub ceiling: Option<PriorityClass>,
}

#[derive(Debug, Clone)]
pub struct QueuePatch {
    pub at: Pos,
    pub name: String,
    pub team: Option<String>,
    pub order: Option<QueueOrder>,
    pub state: Option<QueueState>,
    pub kinds: Option<Vec<Kind>>,
    pub max_running_jobs: Option<Option<u32>>,
    pub max_running_jobs_per_user: Option<Option<u32>>,
    pub max_running_gpus: Option<Option<MilliGpu>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitialState {
    Pending,
    Running,
    Leaving,
}

#[derive(Debug, Clone)]
pub struct JobSpec {
    pub at: Pos,
    pub name: String,
    pub team: String,
    pub queue: Option<String>,
    pub user: String,
    pub kind: Kind,
    pub priority: Option<Priority>,
    pub gpus: GpuAsk,
    pub cpu: MilliCpu,
    pub memory: Mib,
    pub min_replicas: u32,
    pub max_replicas: u32,
    /// Members that a running job has.
    pub replicas: u32,
    pub pools: Vec<String>,
    pub gpu_model: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub require_topology: Option<String>,
    pub prefer_topology: Option<String>,
    pub nvlink: crate::job::NvLink,
    pub rdma: bool,
    pub time_limit_secs: Option<i64>,
    pub preemptible: bool,
    /// Its GPUs have been idle for long, and it was told.
    pub idle: bool,
    pub evict_others: bool,
    pub requeue: bool,
    pub checkpoint: CheckpointMode,
    /// Relative to the moment at which the job is read.
    pub last_checkpoint_secs: Option<i64>,
    pub started_secs: Option<i64>,
    pub submitted_secs: Option<i64>,
    pub state: InitialState,
    pub nodes: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Step {
    pub at: Pos,
    pub actions: Vec<(Pos, Action)>,
    pub expect: Option<Expect>,
}

#[derive(Debug, Clone)]
pub enum Pick {
    All,
    Names(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeCommand {
    Lost,
    Ready,
    Cordoned,
    Drain,
}

#[derive(Debug, Clone)]
pub enum Action {
    Submit(Vec<JobSpec>),
    Vacate(Pick),
    Wait(i64),
    Cycles(u32),
    Set(SetSpec),
    Node(Vec<(String, NodeCommand)>),
    Finish(Pick),
    Fail(Pick),
    Cancel(Pick),
    Checkpoint(Pick),
}

#[derive(Debug, Clone, Default)]
pub struct SetSpec {
    pub policy: PolicyPatch,
    pub teams: Vec<TeamPatch>,
    pub queues: Vec<QueuePatch>,
    pub priorities: Vec<(String, Priority)>,
}

/// A number, or its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    pub min: Option<i64>,
    pub max: Option<i64>,
}

/// `[a, b]`, `{count: 2, team: t, new: true}`, or `{t: 2}`.
#[derive(Debug, Clone)]
pub enum Jobs {
    Exactly(Vec<String>),
    Count { bound: Bound, team: Option<String>, new: bool },
    Teams(Vec<(String, Bound)>),
}

#[derive(Debug, Clone)]
pub enum Place {
    Nodes(Vec<String>),
    Same(String),
    At(Vec<(String, String)>),
}

/// Where a finished or waiting job stands, in the scenario's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateWord {
    Succeeded,
    Failed,
    Cancelled,
    Pending,
    Running,
    Leaving,
}

/// GPUs of one team: in all pools, or by pool (or, for loans, by lender).
#[derive(Debug, Clone)]
pub enum Amount {
    Total(Bound),
    By(Vec<(String, Bound)>),
}

#[derive(Debug, Clone)]
pub enum Expectation {
    Started(Jobs),
    Evicting(Jobs),
    NotEvicting(Vec<String>),
    Evicted(Jobs),
    PendingReasons(Vec<(String, ReasonCode)>),
    Pending(Jobs),
    RefusedReasons(Vec<(String, ReasonCode)>),
    Refused(Jobs),
    Causes(Vec<(String, EvictionCause)>),
    Placed(Vec<(String, Place)>),
    Replicas(Vec<(String, Bound)>),
    State(Vec<(String, StateWord)>),
    /// GPUs in thousandths.
    Usage(Vec<(String, Amount)>),
    Loans(Vec<(String, Amount)>),
    Lent(Vec<(String, Amount)>),
    EvictionsTotal(Bound),
    /// Seconds from now; `None` = unknown.
    Eta(Vec<(String, Option<Bound>)>),
    Numbers(Vec<(String, Vec<(String, Bound)>)>),
    PoolMode(Vec<(Option<String>, PoolMode)>),
    PlanAgainIsEmpty,
}

#[derive(Debug, Clone)]
pub struct Expect {
    pub at: Pos,
    pub all: Vec<(Pos, Expectation)>,
}
