//! What a kind of job may do, must bear, and when it may start (product rules, section 3).

use super::idle_rules::IdleOverrides;
use super::window::TimeWindow;
use crate::idle::IdleRule;
use crate::kind::Kind;
use crate::priority::PriorityClass;
use serde::{Deserialize, Serialize};

/// One kind's rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindRules {
    pub default_priority: PriorityClass,
    /// Highest class without an approval.
    pub ceiling: PriorityClass,
    pub min_runtime_secs: i64,
    pub grace_secs: i64,
    /// May sit on a loan (an inference job's base may not).
    pub may_borrow: bool,
    /// When such jobs may start; `None` = at any time. What runs already runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_window: Option<TimeWindow>,
    /// When such jobs count as idle, and what follows; what is left out is the product's default.
    #[serde(default, skip_serializing_if = "IdleOverrides::is_empty")]
    pub idle: IdleOverrides,
}

impl KindRules {
    /// The product's default for a kind.
    #[must_use]
    pub const fn default_for(kind: Kind) -> Self {
        use PriorityClass::{High, Low, Normal, Scavenger};
        const fn rules(
            kind: Kind,
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
                time_window: None,
                idle: IdleOverrides::all_of(IdleRule::default_for(kind)),
            }
        }
        match kind {
            Kind::Training => rules(kind, Normal, Normal, 30, 5, true),
            Kind::Inference => rules(kind, High, High, 0, 1, false),
            Kind::Experiment => rules(kind, Scavenger, Low, 5, 1, true),
            Kind::Evaluation => rules(kind, Low, Normal, 10, 2, true),
            Kind::Batch => rules(kind, Low, Normal, 10, 2, true),
        }
    }
}
