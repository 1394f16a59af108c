//! Why a job waits, as JSON: the verdict, the other obstacles, what would help, and evidence node by node.

use crate::refs::{JobRef, NodeRef, PoolRef, TeamRef};
use crate::routes::idle_notices::view::IdleView;
use crate::routes::sentence_view::SentenceView;
use chrono::{DateTime, Utc};
use reeve_core::reason::{ExpectedStart, Explanation, Help, Obstacle};
use reeve_core::sentence::expected::expected;
use reeve_core::sentence::reason;
use reeve_store::evictions::Eviction;
use reeve_store::jobs::row::JobRow;
use reeve_store::jobs::show::NodeOffer;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ExplainView {
    pub job: JobRef,
    pub state: String,
    /// Null when it does not wait, or when the planner has not looked at it yet.
    pub verdict: Option<ObstacleView>,
    /// All other obstacles, in the fixed order.
    pub others: Vec<ObstacleView>,
    pub help: Option<HelpView>,
    /// Place in its queue, from 1.
    pub position: Option<u32>,
    /// When it is expected to start; null where others' work is not what it waits for.
    pub expected_start: Option<ExpectedStartView>,
    /// The nodes of the pools it accepts, the freest first, at most 20.
    pub evidence: Vec<EvidenceView>,
    pub evictions_awaited: Vec<AwaitedView>,
    /// It runs, and its GPUs compute nothing: the evidence, and what follows.
    pub idle: Option<IdleView>,
    /// When the planner said so.
    pub as_of: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ObstacleView {
    pub code: String,
    pub detail: Option<String>,
    pub numbers: BTreeMap<String, i64>,
    pub sentence: SentenceView,
}

/// The smallest change that would help.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct HelpView {
    pub action: String,
    pub gpus: Option<i64>,
    pub replicas: Option<i64>,
    pub secs: Option<i64>,
    pub pool: Option<Uuid>,
    pub sentence: SentenceView,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct EvidenceView {
    pub node: NodeRef,
    pub pool: PoolRef,
    pub free_gpus: i64,
    /// Asked by one member.
    pub asks_gpus: i32,
    /// Why a member cannot go there now; null = this node is not what it waits for.
    pub blocked_by: Option<String>,
}

/// A start that is planned, or why none can be.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ExpectedStartView {
    /// Null = unknown.
    pub at: Option<DateTime<Utc>>,
    /// `time_limit`, `leaving`, `no_time_limits`, `behind_planned` or `search_budget_exhausted`.
    pub basis: &'static str,
    /// Whose end it waits for, if the caller may read it.
    pub job: Option<JobRef>,
    pub sentence: SentenceView,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct AwaitedView {
    pub job: JobRef,
    pub leave_by: DateTime<Utc>,
}

/// Puts the answer together.
pub(crate) fn view(
    job: JobRow,
    explanation: Option<Explanation>,
    expected_start: Option<ExpectedStartView>,
    offers: Vec<NodeOffer>,
    awaited: Vec<Eviction>,
) -> ExplainView {
    let evidence = offers.into_iter().map(|offer| evidence(&job, offer)).collect();
    let evictions_awaited = awaited.into_iter().map(awaited_view).collect();
    let (verdict, others, help, position) = match explanation {
        Some(explanation) => {
            let position = explanation.position;
            let why = explanation.into_why();
            (
                Some(obstacle(why.main)),
                why.others.into_iter().map(obstacle).collect(),
                why.help.map(help_view),
                // 0 = it stands in no line yet.
                Some(position).filter(|position| *position > 0),
            )
        }
        None => (None, Vec::new(), None, None),
    };
    ExplainView {
        job: JobRef {
            id: job.id,
            name: job.name,
            team: TeamRef { id: job.team_id, slug: job.team_slug, name: job.team_name },
        },
        state: job.state,
        as_of: job.reason_at.filter(|_| verdict.is_some()),
        verdict,
        others,
        help,
        position,
        expected_start,
        evidence,
        evictions_awaited,
        idle: None,
    }
}

pub(crate) fn obstacle(obstacle: Obstacle) -> ObstacleView {
    ObstacleView {
        sentence: reason::obstacle(&obstacle).into(),
        code: obstacle.code.as_str().to_owned(),
        detail: obstacle.detail,
        numbers: obstacle.numbers,
    }
}

pub(crate) fn expected_start_view(start: ExpectedStart, job: Option<JobRef>) -> ExpectedStartView {
    ExpectedStartView {
        at: start.at(),
        basis: match start {
            ExpectedStart::TimeLimit { .. } => "time_limit",
            ExpectedStart::Leaving { .. } => "leaving",
            ExpectedStart::NoTimeLimits { .. } => "no_time_limits",
            ExpectedStart::BehindPlanned { .. } => "behind_planned",
            ExpectedStart::SearchBudgetExhausted => "search_budget_exhausted",
        },
        sentence: expected(start, job.as_ref().map(|job| job.name.as_str())).into(),
        job,
    }
}

pub(crate) fn help_view(help: Help) -> HelpView {
    let (action, gpus, replicas, secs, pool) = match &help {
        Help::AskForFewerGpus { gpus } => ("ask_for_fewer_gpus", Some(*gpus), None, None, None),
        Help::AskForFewerReplicas { replicas } => {
            ("ask_for_fewer_replicas", None, Some(*replicas), None, None)
        }
        Help::RaiseQuota { gpus } => ("raise_quota", Some(*gpus), None, None, None),
        Help::WaitForOwnJobs { gpus } => ("wait_for_own_jobs", Some(*gpus), None, None, None),
        Help::OpenQueue => ("open_queue", None, None, None, None),
        Help::WaitForLeaving { secs } => ("wait_for_leaving", None, None, Some(*secs), None),
        Help::SetTimeLimit { secs } => ("set_time_limit", None, None, Some(*secs), None),
        Help::WaitForWindow { secs } => ("wait_for_window", None, None, Some(*secs), None),
        Help::AcceptPool { pool } => ("accept_pool", None, None, None, Some(pool.0)),
        Help::Wait => ("wait", None, None, None, None),
    };
    HelpView { action: action.to_owned(), gpus, replicas, secs, pool, sentence: reason::help(&help).into() }
}

/// The first thing that keeps a member from the node, in the order in which the planner looks.
fn evidence(job: &JobRow, offer: NodeOffer) -> EvidenceView {
    let asks = i64::from(job.gpus);
    let blocked_by = [
        (offer.state != "ready", "node_state"),
        (offer.maintained, "maintenance"),
        (!offer.model_fits, "gpu_model"),
        (!offer.labels_fit, "node_labels"),
        (!offer.rdma_fits, "rdma"),
        (!offer.cpu_fits, "cpu"),
        (!offer.memory_fits, "memory"),
        (offer.fitting_devices < asks, "gpus"),
        (offer.fitting_devices - offer.nominated_gpus < asks, "nominated_elsewhere"),
    ]
    .into_iter()
    .find(|(applies, _)| *applies)
    .map(|(_, what)| what.to_owned());
    EvidenceView {
        node: NodeRef { id: offer.node_id, name: offer.node_name },
        pool: PoolRef { id: offer.pool_id, slug: offer.pool_slug },
        free_gpus: offer.free_gpus,
        asks_gpus: job.gpus,
        blocked_by,
    }
}

fn awaited_view(eviction: Eviction) -> AwaitedView {
    AwaitedView {
        job: JobRef {
            id: eviction.job_id,
            name: eviction.job_name,
            team: TeamRef { id: eviction.team_id, slug: eviction.team_slug, name: eviction.team_name },
        },
        leave_by: eviction.leave_by,
    }
}
