//! The planner's output: decisions, and one reason for each pending job. A plan is a proposal; the
//! store's guarded updates check it again.

use super::snapshot::Placement;
use crate::eviction::EvictionCause;
use crate::id::{JobId, PoolId, TeamId};
use crate::priority::Priority;
use crate::reason::Explanation;
use crate::text_enum;
use crate::units::MilliGpu;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What should happen now.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub starts: Vec<Start>,
    /// New evictions, grouped with the nomination they serve.
    pub reclaims: Vec<Reclaim>,
    /// Nominations that end without a start.
    pub dropped: Vec<DroppedNomination>,
    /// Space that is kept for the first jobs that wait, in the order of service.
    #[serde(default)]
    pub planned: Vec<PlannedStart>,
    /// One explanation for each pending job that does not start.
    pub waiting: Vec<(JobId, Explanation)>,
    /// Who borrows from whom once the plan is applied.
    pub loans: Vec<Loan>,
    pub pool_modes: BTreeMap<PoolId, PoolMode>,
    /// The next moment at which time alone may change the plan.
    pub next_due: Option<DateTime<Utc>>,
}

/// A job starts, or an elastic job gains members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    pub job: JobId,
    pub pool: Option<PoolId>,
    pub members: Vec<Placement>,
    /// True: members are added to a running elastic job; no new run begins.
    pub grow: bool,
}

/// Space that later jobs keep clear of, unless they end before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedStart {
    pub job: JobId,
    pub pool: PoolId,
    /// `None` = unknown: the job starves.
    pub at: Option<DateTime<Utc>>,
    /// Empty where the start lies too far ahead to keep anybody out.
    pub members: Vec<Placement>,
}

/// Victims asked to leave together, for one asking job (or none, for drains and lowered quotas).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reclaim {
    pub pool: PoolId,
    /// The job that gets the space; `None` for drain, lowered quota. A job that moves gets its home in a reclaim of its own,
    /// which asks nobody to leave.
    pub evictor: Option<JobId>,
    pub evictions: Vec<Eviction>,
    /// Where the evictor will start. Empty without an evictor.
    pub nomination: Vec<Placement>,
    /// When the nomination lapses.
    pub expires_at: DateTime<Utc>,
}

/// GPUs taken from one job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Eviction {
    pub job: JobId,
    /// Member indices; all of them for a whole gang.
    pub members: Vec<u32>,
    /// Only surplus members: the job runs on.
    pub surplus_only: bool,
    pub cause: EvictionCause,
    pub leave_by: DateTime<Utc>,
    pub record: EvictionRecord,
}

/// The answer to "who asked, under which rule, why this victim, shares before and after".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvictionRecord {
    /// The rule of the product's rule book, for example `2.3 owner recalls a loan`.
    pub rule: String,
    pub evictor: Option<JobId>,
    pub evictor_team: Option<TeamId>,
    pub victim_team: TeamId,
    pub evictor_priority: Option<Priority>,
    pub victim_priority: Priority,
    /// Preemption tier, 0–3.
    pub tier: u8,
    pub lost_gpu_secs: i64,
    /// How many jobs could have been chosen under the rule.
    pub candidates: u32,
    /// The best candidate that was not chosen, and the key that decided.
    pub runner_up: Option<RunnerUp>,
    pub shares_before: Vec<TeamShare>,
    pub shares_after: Vec<TeamShare>,
    /// Where the job runs again, promised together with the evictor's place; empty unless it only moves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves_to: Vec<Placement>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerUp {
    pub job: JobId,
    /// The first key on which the two differ: `team_over_share`, `tier`, `lost_work`, `latest_start`, `id`, `not_needed`.
    pub decided_by: String,
}

/// One team's use in one pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamShare {
    pub team: TeamId,
    pub used: MilliGpu,
    pub guaranteed: MilliGpu,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedNomination {
    pub job: JobId,
    pub why: DropReason,
}

text_enum! {
    /// Why a nomination ended without a start.
    DropReason {
        JobGone = "job_gone",
        TimedOut = "timed_out",
        NoLongerFits = "no_longer_fits",
        NotNeeded = "not_needed",
    }
}

/// `borrower` uses `milli` of `lender`'s idle guarantee (`None` = capacity that nobody's guarantee covers).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Loan {
    pub pool: PoolId,
    pub borrower: TeamId,
    pub lender: Option<TeamId>,
    pub milli: MilliGpu,
}

text_enum! {
    /// How a pool's guarantees stand to its capacity.
    PoolMode {
        Normal = "normal",
        /// Guarantees add up to more than the capacity: they are scaled pro rata.
        Overcommitted = "overcommitted",
    }
}
