//! The policy document: one versioned text that holds all rules.
//!
//! It only says what is wanted; who obeys is the planner's business.

use super::approvals::ApprovalPolicy;
use super::kind_rules::KindRules;
use super::layers::KindOverrides;
use crate::kind::Kind;
use crate::priority::PriorityClass;
use crate::text_enum;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

text_enum! {
    /// Whose loans an owner inside its guarantee may recall.
    ReclaimMode {
        Any = "any",
        LowerPriority = "lower_priority",
        Off = "off",
    }
}

text_enum! {
    /// Whom a job may preempt inside its own team.
    PreemptWithinTeam {
        Lower = "lower",
        LowerOrNewerEqual = "lower_or_newer_equal",
        Off = "off",
    }
}

text_enum! {
    /// How surplus is handed out.
    SurplusOrder {
        /// By priority class band, then weighted share, then age.
        Bands = "bands",
        /// By weighted share, then age.
        ShareOnly = "share_only",
    }
}

text_enum! {
    /// Where among the nodes with room a job goes.
    Placement {
        /// Where the least is left over.
        BestFit = "best_fit",
        /// A job of one member: where the requests of its pool, as they run and wait, lose least of what is free. Gangs: best fit.
        Mix = "mix",
    }
}

/// The rules the planner follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    pub reclaim: ReclaimMode,
    pub preempt_within_team: PreemptWithinTeam,
    /// Highest priority that a borrower may preempt across teams; `None` = off.
    pub borrow_preemption_max_priority: Option<i32>,
    pub rebalance: Rebalance,
    pub consolidation: Consolidation,
    pub surplus_order: SurplusOrder,
    pub placement: Placement,
    pub backfill: Backfill,
    pub nomination_timeout_secs: i64,
    pub max_evictions_per_job_per_day: u32,
    pub kinds: BTreeMap<Kind, KindRules>,
    /// Who approves what goes beyond the rules.
    pub approvals: ApprovalPolicy,
    /// Teams' own rules, by slug; they hold for the teams below too.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub team_rules: BTreeMap<String, KindOverrides>,
    /// Queues' own rules, by slug.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub queue_rules: BTreeMap<String, KindOverrides>,
}

/// Rebalancing running surplus by eviction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "mode")]
pub enum Rebalance {
    Off,
    On { max_evictions_per_hour: Option<u32> },
}

/// Moving jobs that may be evicted, so that one starts that has the quota but no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "mode")]
pub enum Consolidation {
    Off,
    /// `None` = no cap.
    On {
        max_moves_per_hour: Option<u32>,
    },
}

/// Planned starts for the first jobs that wait for space, and what may pass them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "mode")]
pub enum Backfill {
    /// Nobody's space is kept: whoever fits starts.
    Off,
    On {
        /// So many waiting jobs of each pool get a planned start.
        #[serde(default = "planned_jobs")]
        planned_jobs: u32,
        /// A job that has waited so long without a known start keeps the space it is likeliest to get; `None` = never.
        #[serde(default = "starvation_limit_secs")]
        starvation_limit_secs: Option<i64>,
        /// A start that is planned later than this keeps nobody out.
        #[serde(default = "window_secs")]
        window_secs: i64,
    },
}

impl Backfill {
    /// How long before its maintenance a node takes no job without a time limit: what is planned later keeps nobody out.
    #[must_use]
    pub fn lead_without_limit_secs(self) -> i64 {
        match self {
            Self::On { window_secs, .. } => window_secs.clamp(0, LONGEST_LEAD_SECS),
            Self::Off => window_secs(),
        }
    }
}

/// No window begins farther ahead.
const LONGEST_LEAD_SECS: i64 = 366 * 86_400;

const fn planned_jobs() -> u32 {
    4
}

#[expect(clippy::unnecessary_wraps, reason = "serde wants the field's type")]
const fn starvation_limit_secs() -> Option<i64> {
    Some(12 * 3_600)
}

const fn window_secs() -> i64 {
    86_400
}

impl Default for Backfill {
    fn default() -> Self {
        Self::On {
            planned_jobs: planned_jobs(),
            starvation_limit_secs: starvation_limit_secs(),
            window_secs: window_secs(),
        }
    }
}

impl Policy {
    /// How long a promise outlasts the last grace: never nothing, or it would end as it is given.
    #[must_use]
    pub fn nomination_timeout(&self) -> TimeDelta {
        TimeDelta::seconds(self.nomination_timeout_secs.max(1))
    }

    /// The installation's rules of a kind.
    #[must_use]
    pub fn rules(&self, kind: Kind) -> KindRules {
        self.kinds.get(&kind).cloned().unwrap_or_else(|| KindRules::default_for(kind))
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            reclaim: ReclaimMode::Any,
            preempt_within_team: PreemptWithinTeam::Lower,
            borrow_preemption_max_priority: Some(PriorityClass::Low.value().0),
            rebalance: Rebalance::Off,
            consolidation: Consolidation::Off,
            surplus_order: SurplusOrder::Bands,
            placement: Placement::BestFit,
            backfill: Backfill::default(),
            nomination_timeout_secs: 900,
            max_evictions_per_job_per_day: 3,
            kinds: Kind::ALL.iter().map(|&kind| (kind, KindRules::default_for(kind))).collect(),
            approvals: ApprovalPolicy::default(),
            team_rules: BTreeMap::new(),
            queue_rules: BTreeMap::new(),
        }
    }
}
