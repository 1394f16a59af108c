//! Priority classes. Higher is more important; people see names.

use crate::text_enum;
use serde::{Deserialize, Serialize};

text_enum! {
    /// A named priority class.
    PriorityClass {
        Scavenger = "scavenger",
        Low = "low",
        Normal = "normal",
        High = "high",
        Critical = "critical",
    }
}

impl PriorityClass {
    /// The class's number: the planner compares these.
    #[must_use]
    pub const fn value(self) -> Priority {
        Priority(match self {
            Self::Scavenger => 100,
            Self::Low => 300,
            Self::Normal => 500,
            Self::High => 700,
            Self::Critical => 900,
        })
    }
}

/// A priority as the planner sees it. Scenario files may use numbers between the classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Priority(pub i32);

impl Priority {
    /// The band a priority lies in: the highest class whose value it reaches.
    #[must_use]
    pub fn band(self) -> PriorityClass {
        PriorityClass::ALL
            .iter()
            .rev()
            .copied()
            .find(|class| self >= class.value())
            .unwrap_or(PriorityClass::Scavenger)
    }
}
