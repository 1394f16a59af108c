//! Why a job waits: one dominant, stable, typed reason with its numbers, the other obstacles under it,
//! and the smallest change that would help. Sentences in two languages are made at the edge.

use crate::text_enum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

text_enum! {
    /// The fixed order: the first that applies is the main one.
    ReasonCode {
        Invalid = "invalid",
        NeverFits = "never_fits",
        OverCap = "over_cap",
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

/// Why a pending job has not started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    pub main: Obstacle,
    /// All other obstacles, in the fixed order.
    pub others: Vec<Obstacle>,
    /// The smallest change that would help.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub help: Option<Help>,
    /// Place in its queue, from 1.
    pub position: u32,
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
    /// Accept another pool.
    AcceptPool { pool: crate::id::PoolId },
    /// Nothing to do but wait.
    Wait,
}
