//! What is asked for and what is granted of it. A grant is never more than what was asked.

use super::refusal::Refusal;
use crate::priority::PriorityClass;
use crate::text_enum;
use serde::{Deserialize, Serialize};

text_enum! {
    /// What an escalation asks for.
    AsksFor {
        /// A priority class above the ceiling.
        Priority = "priority",
        /// Another guarantee or borrow limit.
        Quota = "quota",
        /// High-priority GPU-hours on top of the month's, or more than a named budget allows.
        Budget = "budget",
        /// That a job is not evicted, on a loan either.
        NeverEvict = "never_evict",
    }
}

text_enum! {
    /// Against whom a raised priority counts.
    Scope {
        /// The team's own jobs only.
        Team = "team",
        /// Everybody's.
        Platform = "platform",
    }
}

/// Amounts, each where its kind of request has one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    pub level: Option<PriorityClass>,
    pub guaranteed_gpus: Option<i32>,
    /// `None` = as it is.
    pub borrow_limit_gpus: Option<i32>,
    pub gpu_hours: Option<i64>,
    /// On top of a named budget, in millionths of its unit.
    pub extra_micros: Option<i64>,
    /// `None` = for good (quotas only).
    pub duration_secs: Option<i64>,
}

impl Terms {
    /// These terms with what `less` names put in their place.
    ///
    /// # Errors
    /// [`Refusal`] where that is more, or of another kind of request. A duration may be set where there was none.
    pub fn lessened(self, less: Self) -> Result<Self, Refusal> {
        Ok(Self {
            level: lower("level", self.level, less.level)?,
            guaranteed_gpus: lower("guaranteed_gpus", self.guaranteed_gpus, less.guaranteed_gpus)?,
            borrow_limit_gpus: lower("borrow_limit_gpus", self.borrow_limit_gpus, less.borrow_limit_gpus)?,
            gpu_hours: lower("gpu_hours", self.gpu_hours, less.gpu_hours)?,
            extra_micros: lower("amount", self.extra_micros, less.extra_micros)?,
            duration_secs: match (self.duration_secs, less.duration_secs) {
                (None, shorter) => shorter,
                (known, shorter) => lower("duration_secs", known, shorter)?,
            },
        })
    }

    /// Nothing in these terms is more than in `other`.
    #[must_use]
    pub fn is_within(self, other: Self) -> bool {
        other.lessened(self) == Ok(self)
    }
}

fn lower<T: Ord + Copy>(
    field: &'static str,
    known: Option<T>,
    less: Option<T>,
) -> Result<Option<T>, Refusal> {
    match (known, less) {
        (known, None) => Ok(known),
        (None, Some(_)) => Err(Refusal::NotAskedFor { field }),
        (Some(known), Some(less)) if less > known => Err(Refusal::Larger { field }),
        (Some(_), Some(less)) => Ok(Some(less)),
    }
}
