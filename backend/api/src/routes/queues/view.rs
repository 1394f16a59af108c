//! A queue, and its line, as JSON.

use crate::refs::{JobRef, TeamRef};
use chrono::{DateTime, Utc};
use reeve_core::units::MilliGpu;
use reeve_store::queues::{InLine, Queue, QueueFigures};
use reeve_store::{Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct QueueView {
    pub id: Uuid,
    pub slug: String,
    pub name: String,
    pub team: TeamRef,
    /// `strict_fifo` or `fifo_with_backfill`.
    pub order: String,
    /// `open`, `held` or `draining`.
    pub state: String,
    /// Null = every kind.
    pub allowed_kinds: Option<Vec<String>>,
    pub max_running_jobs: Option<i32>,
    pub max_running_jobs_per_user: Option<i32>,
    pub max_running_gpus: Option<i32>,
    pub version: i64,
    pub created_at: DateTime<Utc>,
    pub counts: QueueCounts,
    pub used_gpus: f64,
    pub pending_gpus: f64,
    pub oldest_waiting_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub(crate) struct QueueCounts {
    pub queued: i64,
    pub starting: i64,
    pub running: i64,
    pub leaving: i64,
}

/// A job's place in the line.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct InLineView {
    /// From 1, in the order of service: what is served already comes first.
    pub position: i64,
    pub job: JobRef,
    pub state: String,
    pub gpus_total: f64,
    pub priority_class: String,
    pub submitted_at: DateTime<Utc>,
    pub reason_code: Option<String>,
}

/// Queues with what they hold: one set look-up.
pub(crate) async fn views(store: &Store, queues: Vec<Queue>) -> Result<Vec<QueueView>, StoreError> {
    let ids: Vec<Uuid> = queues.iter().map(|queue| queue.id).collect();
    let figures = reeve_store::queues::figures(store, &ids).await?;
    let mut by_queue: BTreeMap<Uuid, QueueFigures> =
        figures.into_iter().map(|figures| (figures.queue_id, figures)).collect();
    Ok(queues
        .into_iter()
        .map(|queue| {
            let figures = by_queue.remove(&queue.id).unwrap_or_default();
            view(queue, &figures)
        })
        .collect())
}

/// One queue with what it holds.
pub(crate) fn view(queue: Queue, figures: &QueueFigures) -> QueueView {
    QueueView {
        id: queue.id,
        slug: queue.slug,
        name: queue.name,
        team: TeamRef { id: queue.team_id, slug: queue.team_slug, name: queue.team_name },
        order: queue.order,
        state: queue.state,
        allowed_kinds: queue.allowed_kinds,
        max_running_jobs: queue.max_running_jobs,
        max_running_jobs_per_user: queue.max_running_jobs_per_user,
        max_running_gpus: queue.max_running_gpus,
        version: queue.version,
        created_at: queue.created_at,
        counts: QueueCounts {
            queued: figures.queued,
            starting: figures.starting,
            running: figures.running,
            leaving: figures.leaving,
        },
        used_gpus: MilliGpu(figures.used_milli).as_gpus(),
        pending_gpus: MilliGpu(figures.pending_milli).as_gpus(),
        oldest_waiting_at: figures.oldest_waiting_at,
    }
}

impl From<InLine> for InLineView {
    fn from(job: InLine) -> Self {
        Self {
            position: job.place,
            state: job.state,
            gpus_total: MilliGpu(job.gpu_milli_total).as_gpus(),
            priority_class: job.priority_class,
            submitted_at: job.submitted_at,
            reason_code: job.reason_code,
            job: JobRef {
                id: job.id,
                name: job.name,
                team: TeamRef { id: job.team_id, slug: job.team_slug, name: job.team_name },
            },
        }
    }
}
