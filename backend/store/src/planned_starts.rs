//! Starts that are planned: the space kept for the first jobs that wait, and what is promised to those for whom others
//! leave.
//!
//! This module refuses to plan: it tells what the last plan left.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::id::{PoolId, QueueId};
use std::collections::BTreeMap;
use uuid::Uuid;

/// One waiting job's start.
#[derive(Debug, Clone)]
pub struct PlannedRow {
    pub job_id: Uuid,
    pub job_name: String,
    pub user_id: Uuid,
    pub kind: String,
    pub priority_class: String,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub pool_id: Uuid,
    pub pool_slug: String,
    pub gpus: i32,
    pub gpu_milli: Option<i64>,
    pub min_replicas: i32,
    pub time_limit_secs: Option<i64>,
    pub starts_at: Option<DateTime<Utc>>,
    pub placement: serde_json::Value,
    /// Others leave for it.
    pub reclaim_id: Option<Uuid>,
    pub reason: Option<serde_json::Value>,
    /// The job whose end it waits for.
    pub basis_job_id: Option<Uuid>,
    pub basis_job_name: Option<String>,
    pub basis_user_id: Option<Uuid>,
    pub basis_team_id: Option<Uuid>,
    pub basis_team_slug: Option<String>,
    pub basis_team_name: Option<String>,
}

/// What a list may be narrowed to.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub pool: Option<PoolId>,
    /// A team with everything below it.
    pub teams: Option<Vec<Uuid>>,
    pub queue: Option<QueueId>,
    pub kind: Option<String>,
}

/// Where a page goes on: the last row's start, and its job.
pub type Key = (Option<DateTime<Utc>>, Uuid);

/// Soonest first, unknown starts last.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    filter: &Filter,
    after: Option<Key>,
    limit: i64,
) -> Result<Vec<PlannedRow>, StoreError> {
    let (after_at, after_job) = after.unzip();
    Ok(sqlx::query_as!(
        PlannedRow,
        r#"with starts as (
             select s.job_id, s.pool_id, s.starts_at, s.placement, null::uuid as reclaim_id from planned_starts s
             where not exists (select 1 from reclaims c where c.evictor_job_id = s.job_id and c.state = 'waiting')
             union all
             select c.evictor_job_id, c.pool_id,
                    coalesce((select max(e.leave_by) from evictions e where e.reclaim_id = c.id),
                             (select (w.reason #>> '{expected_start,at}')::timestamptz from jobs w
                              where w.id = c.evictor_job_id)),
                    c.nomination, c.id
             from reclaims c where c.state = 'waiting' and c.evictor_job_id is not null
           )
           select j.id as "job_id!", j.name as "job_name!", j.user_id as "user_id!", j.kind as "kind!",
                  j.priority_class as "priority_class!", j.team_id as "team_id!", t.slug as "team_slug!",
                  t.name as "team_name!", p.id as "pool_id!", p.slug as "pool_slug!", j.gpus as "gpus!", j.gpu_milli,
                  j.min_replicas as "min_replicas!", j.time_limit_secs, s.starts_at, s.placement as "placement!",
                  s.reclaim_id, j.reason, b.id as "basis_job_id?", b.name as "basis_job_name?",
                  b.user_id as "basis_user_id?", bt.id as "basis_team_id?", bt.slug as "basis_team_slug?",
                  bt.name as "basis_team_name?"
           from starts s join jobs j on j.id = s.job_id and j.state = 'queued'
           join teams t on t.id = j.team_id join pools p on p.id = s.pool_id
           left join jobs b on b.id = (j.reason #>> '{expected_start,job}')::uuid
           left join teams bt on bt.id = b.team_id
           where ($1::uuid is null or s.pool_id = $1) and ($2::uuid[] is null or j.team_id = any($2))
             and ($3::uuid is null or j.queue_id = $3) and ($4::text is null or j.kind = $4)
             and ($6::uuid is null or (coalesce(s.starts_at, 'infinity'), j.id) > (coalesce($5::timestamptz, 'infinity'), $6))
           order by coalesce(s.starts_at, 'infinity'), j.id limit $7"#,
        filter.pool.map(|id| id.0),
        filter.teams.as_deref(),
        filter.queue.map(|id| id.0),
        filter.kind.as_deref(),
        after_at.flatten(),
        after_job,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// A GPU's place, for placements that name it by id.
#[derive(Debug, Clone)]
pub struct GpuPlace {
    pub gpu_id: Uuid,
    pub index: i32,
    pub node_id: Uuid,
    pub node_name: String,
}

/// Where these GPUs are.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn places(store: &Store, gpus: &[Uuid]) -> Result<BTreeMap<Uuid, GpuPlace>, StoreError> {
    let rows = sqlx::query_as!(
        GpuPlace,
        "select g.id as gpu_id, g.index, n.id as node_id, n.name as node_name
         from gpus g join nodes n on n.id = g.node_id where g.id = any($1)",
        gpus
    )
    .fetch_all(store.pool())
    .await?;
    Ok(rows.into_iter().map(|row| (row.gpu_id, row)).collect())
}
