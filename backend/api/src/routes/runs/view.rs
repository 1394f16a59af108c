//! A run over time, as JSON: whose, when, where, and how it was made to leave.

use crate::refs::{JobRef, MaskedJobRef, NodeRef, PoolRef, TeamRef};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::access::Actor;
use reeve_core::id::UserId;
use reeve_core::units::MilliGpu;
use reeve_store::jobs::show;
use reeve_store::runs::{HeldRow, LeftRow, SpanRow, evictions, held};
use reeve_store::{Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

/// One attempt of a job.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TimelineRun {
    pub id: Uuid,
    pub job: MaskedJobRef,
    pub number: i32,
    pub kind: String,
    pub priority_class: String,
    pub state: String,
    pub pool: Option<PoolRef>,
    /// How much of it its team borrows; null once it has ended.
    pub borrowed_gpus: Option<f64>,
    pub placed_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    /// When its time limit ends it; null without one, before its start and after its end.
    pub limit_at: Option<DateTime<Utc>>,
    pub leave_cause: Option<String>,
    pub leave_by: Option<DateTime<Utc>>,
    pub members: Vec<TimelineMember>,
    pub evictions: Vec<TimelineEviction>,
}

/// What one member holds, or held.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TimelineMember {
    pub member: i32,
    pub node: NodeRef,
    pub gpu_indices: Vec<i32>,
    pub gpu_milli: i64,
    pub placed_at: DateTime<Utc>,
    /// When its GPUs were given back; null while it holds them.
    pub released_at: Option<DateTime<Utc>>,
}

/// It was told to leave, or some of its members were.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TimelineEviction {
    pub id: Uuid,
    pub cause: String,
    pub outcome: String,
    pub members: Vec<i32>,
    pub notified_at: DateTime<Utc>,
}

/// Runs with members and evictions: three set look-ups a page.
pub(super) async fn views(
    store: &Store,
    actor: &Actor,
    runs: Vec<SpanRow>,
) -> Result<Vec<TimelineRun>, StoreError> {
    let ids: Vec<Uuid> = runs.iter().map(|run| run.id).collect();
    let live: Vec<Uuid> = runs.iter().filter(|run| run.ended_at.is_none()).map(|run| run.job_id).collect();
    let borrowed = if live.is_empty() { BTreeMap::new() } else { show::borrowed(store, &live).await? };
    let mut members: BTreeMap<Uuid, Vec<TimelineMember>> = BTreeMap::new();
    for row in held(store, &ids).await? {
        members.entry(row.run_id).or_default().push(row.into());
    }
    let mut left: BTreeMap<Uuid, Vec<TimelineEviction>> = BTreeMap::new();
    for row in evictions(store, &ids).await? {
        left.entry(row.run_id).or_default().push(row.into());
    }
    let view = |run: SpanRow| {
        let parts = (members.remove(&run.id).unwrap_or_default(), left.remove(&run.id).unwrap_or_default());
        let borrowed = borrowed.get(&run.job_id).copied().unwrap_or(0);
        view(actor, run, MilliGpu(borrowed), parts)
    };
    Ok(runs.into_iter().map(view).collect())
}

fn view(
    actor: &Actor,
    run: SpanRow,
    borrowed: MilliGpu,
    (members, evictions): (Vec<TimelineMember>, Vec<TimelineEviction>),
) -> TimelineRun {
    let live = run.ended_at.is_none();
    let limit = run.time_limit_secs.and_then(TimeDelta::try_seconds);
    let team = TeamRef { id: run.team_id, slug: run.team_slug, name: run.team_name };
    let job = JobRef { id: run.job_id, name: run.job_name, team };
    TimelineRun {
        id: run.id,
        job: MaskedJobRef::new(actor, UserId(run.user_id), job),
        number: run.number,
        kind: run.kind,
        priority_class: run.priority_class,
        state: run.state,
        pool: run.pool_id.zip(run.pool_slug).map(|(id, slug)| PoolRef { id, slug }),
        borrowed_gpus: live.then(|| borrowed.as_gpus()),
        placed_at: run.placed_at,
        started_at: run.started_at,
        ended_at: run.ended_at,
        limit_at: run
            .started_at
            .zip(limit)
            .filter(|_| live)
            .and_then(|(start, limit)| start.checked_add_signed(limit)),
        leave_cause: run.leave_cause,
        leave_by: run.leave_by,
        members,
        evictions,
    }
}

impl From<HeldRow> for TimelineMember {
    fn from(row: HeldRow) -> Self {
        Self {
            member: row.member,
            node: NodeRef { id: row.node_id, name: row.node_name },
            gpu_indices: row.gpu_indices,
            gpu_milli: row.gpu_milli,
            placed_at: row.placed_at,
            released_at: row.released_at,
        }
    }
}

impl From<LeftRow> for TimelineEviction {
    fn from(row: LeftRow) -> Self {
        Self {
            id: row.id,
            cause: row.cause,
            outcome: row.outcome,
            members: row.members,
            notified_at: row.notified_at,
        }
    }
}
