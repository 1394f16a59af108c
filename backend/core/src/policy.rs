//! The planner's policy: rules that an installation may edit. Defaults are the product's.

use crate::kind::Kind;
use crate::priority::PriorityClass;
use crate::text_enum;
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

/// The rules the planner follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    pub reclaim: ReclaimMode,
    pub preempt_within_team: PreemptWithinTeam,
    /// Highest priority that a borrower may preempt across teams; `None` = off.
    pub borrow_preemption_max_priority: Option<i32>,
    pub rebalance: Rebalance,
    pub surplus_order: SurplusOrder,
    pub nomination_timeout_secs: i64,
    pub max_evictions_per_job_per_day: u32,
    pub kinds: BTreeMap<Kind, KindRules>,
}

/// Rebalancing running surplus by eviction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "mode")]
pub enum Rebalance {
    Off,
    On { max_evictions_per_hour: Option<u32> },
}

/// One kind's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindRules {
    pub default_priority: PriorityClass,
    /// Highest class without an approval.
    pub ceiling: PriorityClass,
    pub min_runtime_secs: i64,
    pub grace_secs: i64,
    /// May sit on a loan (an inference job's base may not).
    pub may_borrow: bool,
}

impl Policy {
    /// The rules of a kind.
    #[must_use]
    pub fn rules(&self, kind: Kind) -> KindRules {
        self.kinds.get(&kind).copied().unwrap_or_else(|| KindRules::default_for(kind))
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            reclaim: ReclaimMode::Any,
            preempt_within_team: PreemptWithinTeam::Lower,
            borrow_preemption_max_priority: Some(PriorityClass::Low.value().0),
            rebalance: Rebalance::Off,
            surplus_order: SurplusOrder::Bands,
            nomination_timeout_secs: 900,
            max_evictions_per_job_per_day: 3,
            kinds: Kind::ALL.iter().map(|&kind| (kind, KindRules::default_for(kind))).collect(),
        }
    }
}

impl KindRules {
    /// The product's default for a kind.
    #[must_use]
    pub const fn default_for(kind: Kind) -> Self {
        use PriorityClass::{High, Low, Normal, Scavenger};
        const fn rules(
            default_priority: PriorityClass,
            ceiling: PriorityClass,
            min_runtime_mins: i64,
            grace_mins: i64,
            may_borrow: bool,
        ) -> KindRules {
            KindRules {
                default_priority,
                ceiling,
                min_runtime_secs: min_runtime_mins * 60,
                grace_secs: grace_mins * 60,
                may_borrow,
            }
        }
        match kind {
            Kind::Training => rules(Normal, Normal, 30, 5, true),
            Kind::Inference => rules(High, High, 0, 1, false),
            Kind::Experiment => rules(Scavenger, Low, 5, 1, true),
            Kind::Evaluation => rules(Low, Normal, 10, 2, true),
            Kind::Batch => rules(Low, Normal, 10, 2, true),
        }
    }
}
