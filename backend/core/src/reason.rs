//! Why a job waits: one dominant, stable, typed reason with its numbers, the other obstacles under it,
//! and the smallest change that would help. Sentences in two languages are made at the edge.

use crate::id::JobId;
use crate::text_enum;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

text_enum! {
    /// The fixed order: the first that applies is the main one.
    ReasonCode {
        Invalid = "invalid",
        NeverFits = "never_fits",
        OverCap = "over_cap",
        /// Said at submission: the planner sees the job once they have ended.
        WaitingForJobs = "waiting_for_jobs",
        QueueHeld = "queue_held",
        AwaitingApproval = "awaiting_approval",
        BudgetExhausted = "budget_exhausted",
        OutsideTimeWindow = "outside_time_window",
        NoQuota = "no_quota",
        Fragmented = "fragmented",
        Topology = "topology",
        WaitingForEvictions = "waiting_for_evictions",
        BehindOthers = "behind_others",
        SearchBudgetExhausted = "search_budget_exhausted",
    }
}

/// One obstacle and its numbers, for example `{asks: 8, free: 16, best_node: 1}` (GPUs unless the
/// name ends in another unit).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Obstacle {
    pub code: ReasonCode,
    /// What exactly, for example `team_cap`, `parent_cap`, `ahead_in_queue`, `nominated_elsewhere`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    pub numbers: BTreeMap<String, i64>,
}

/// Why a pending job has not started, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// Thousands of jobs that are alike share one.
    #[serde(flatten, serialize_with = "Why::write", deserialize_with = "Why::read")]
    pub why: Arc<Why>,
    /// Place in its queue, from 1.
    pub position: u32,
    /// When it is expected to start; `None` where space is not what it waits for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_start: Option<ExpectedStart>,
}

impl Explanation {
    /// Without the place in line.
    #[must_use]
    pub fn into_why(self) -> Why {
        Arc::unwrap_or_clone(self.why)
    }
}

impl Deref for Explanation {
    type Target = Why;

    fn deref(&self) -> &Why {
        &self.why
    }
}

/// One main reason, and what else stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    pub main: Obstacle,
    /// All other obstacles, in the fixed order.
    pub others: Vec<Obstacle>,
    /// The smallest change that would help.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub help: Option<Help>,
}

impl Why {
    fn write<S: Serializer>(why: &Arc<Self>, serializer: S) -> Result<S::Ok, S::Error> {
        why.serialize(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Self>, D::Error> {
        Self::deserialize(deserializer).map(Arc::new)
    }
}

/// A waiting job's expected start, with what it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "basis", rename_all = "snake_case")]
pub enum ExpectedStart {
    /// That job ends by its time limit.
    TimeLimit { at: DateTime<Utc>, job: JobId },
    /// Those who are leaving have left.
    Leaving { at: DateTime<Utc> },
    /// Unknown: so many running jobs of the pool have no time limit.
    NoTimeLimits { jobs: u32 },
    /// Unknown: it comes after so many planned starts.
    BehindPlanned { jobs: u32 },
    /// Unknown: the search for it ran out of steps.
    SearchBudgetExhausted,
}

impl ExpectedStart {
    /// When, where it is known.
    #[must_use]
    pub const fn at(self) -> Option<DateTime<Utc>> {
        match self {
            Self::TimeLimit { at, .. } | Self::Leaving { at } => Some(at),
            Self::NoTimeLimits { .. } | Self::BehindPlanned { .. } | Self::SearchBudgetExhausted => None,
        }
    }
}

/// A change that would let the job start or move it on to another reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Help {
    /// Ask for at most this many GPUs a member.
    AskForFewerGpus { gpus: i64 },
    /// Ask for at most this many members.
    AskForFewerReplicas { replicas: i64 },
    /// Raise the team's guarantee or borrow limit by this much.
    RaiseQuota { gpus: i64 },
    /// Free this many GPUs in the team, or wait for them.
    WaitForOwnJobs { gpus: i64 },
    /// Somebody must open the queue.
    OpenQueue,
    /// Nothing to do: leaving jobs have until then.
    WaitForLeaving { secs: i64 },
    /// Nothing to do: such jobs may start again then.
    WaitForWindow { secs: i64 },
    /// Set a time limit of at most this: the job would end before another's planned start.
    SetTimeLimit { secs: i64 },
    /// Accept another pool.
    AcceptPool { pool: crate::id::PoolId },
    /// Nothing to do but wait.
    Wait,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_is_one_flat_object_and_is_read_back() {
        let main = Obstacle {
            code: ReasonCode::Fragmented,
            detail: Some("pool_full".to_owned()),
            numbers: [("asks".to_owned(), 8)].into(),
        };
        let why = Why { main, others: Vec::new(), help: Some(Help::AskForFewerGpus { gpus: 4 }) };
        let told = Explanation { why: Arc::new(why), position: 3, expected_start: None };
        let text = r#"{"main":{"code":"fragmented","detail":"pool_full","numbers":{"asks":8}},"others":[],"help":{"action":"ask_for_fewer_gpus","gpus":4},"position":3}"#;
        assert_eq!(serde_json::to_string(&told).unwrap(), text);
        assert_eq!(serde_json::from_str::<Explanation>(text).unwrap(), told);
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::from_value::<Explanation>(value).unwrap(), told);
    }
}
