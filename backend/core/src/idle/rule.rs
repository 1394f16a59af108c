//! When a kind's jobs count as idle, and what is done about it.

use crate::kind::Kind;
use crate::text_enum;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

text_enum! {
    /// What happens to a job that stayed idle through its notice.
    IdleAction {
        /// Nobody looks: who wants it asks for it.
        Off = "off",
        /// Nothing: its owner has been told.
        Notify = "notify",
        /// It is the first to leave when somebody needs its GPUs (tier 0), and otherwise stays.
        Reclaimable = "reclaimable",
        /// It leaves, as if it were evicted: with its checkpoint and its grace.
        Stop = "stop",
    }
}

/// One kind's rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleRule {
    pub action: IdleAction,
    /// A GPU whose compute use is at or below this (thousandths) is not computing.
    pub busy_above_permille: u32,
    /// How long none of the job's GPUs may have computed, at least.
    pub window_secs: i64,
    /// To how much the job's own pauses, and those of its like, may widen the window.
    pub most_window_secs: i64,
    /// So much of the window's expected samples (thousandths) must have come.
    pub coverage_permille: u32,
    /// From its start, in which it may load and compile.
    pub initial_grace_secs: i64,
    /// Between the notice and the act.
    pub grace_secs: i64,
    /// For how long its owner may put the act off, altogether.
    pub most_snooze_secs: i64,
}

impl IdleRule {
    /// The product's default for a kind.
    #[must_use]
    pub const fn default_for(kind: Kind) -> Self {
        const fn rule(
            action: IdleAction,
            window_mins: i64,
            most_window_mins: i64,
            grace_mins: i64,
        ) -> IdleRule {
            IdleRule {
                action,
                busy_above_permille: 30,
                window_secs: window_mins * 60,
                most_window_secs: most_window_mins * 60,
                coverage_permille: 800,
                initial_grace_secs: 30 * 60,
                grace_secs: grace_mins * 60,
                most_snooze_secs: 24 * 3600,
            }
        }
        match kind {
            Kind::Training => rule(IdleAction::Off, 60, 8 * 60, 30),
            // A service without requests at night is no forgotten job.
            Kind::Inference => rule(IdleAction::Off, 120, 24 * 60, 60),
            Kind::Experiment | Kind::Evaluation | Kind::Batch => {
                rule(IdleAction::Reclaimable, 30, 8 * 60, 30)
            }
        }
    }

    pub(super) const fn grace(&self) -> TimeDelta {
        TimeDelta::seconds(self.grace_secs)
    }

    pub(super) const fn initial_grace(&self) -> TimeDelta {
        TimeDelta::seconds(self.initial_grace_secs)
    }

    pub(super) const fn most_snooze(&self) -> TimeDelta {
        TimeDelta::seconds(self.most_snooze_secs)
    }
}
