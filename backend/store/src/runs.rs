//! Runs over time: which overlap a span, where their members held GPUs, and how they were made to leave.
//!
//! This module refuses to say how much of an ended run was borrowed: the ledger lends to teams, and splits a team's
//! loan among its jobs only for the present.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::id::{PoolId, QueueId, UserId};
use uuid::Uuid;

/// One run with the names of what it joins.
#[derive(Debug, Clone)]
pub struct SpanRow {
    pub id: Uuid,
    pub number: i32,
    pub state: String,
    pub job_id: Uuid,
    pub job_name: String,
    pub user_id: Uuid,
    pub kind: String,
    pub priority_class: String,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub pool_id: Option<Uuid>,
    pub pool_slug: Option<String>,
    pub time_limit_secs: Option<i64>,
    pub placed_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    pub leave_cause: Option<String>,
    pub leave_by: Option<DateTime<Utc>>,
}

/// Which runs: those that overlap the span, and what it may be narrowed to.
#[derive(Debug, Clone)]
pub struct Filter {
    pub from: DateTime<Utc>,
    pub to: DateTime<Utc>,
    pub pool: Option<PoolId>,
    /// A team with everything below it.
    pub teams: Option<Vec<Uuid>>,
    pub queue: Option<QueueId>,
    pub kind: Option<String>,
    pub user: Option<UserId>,
}

/// Latest placed first; `after` is the last row of the page before.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn overlapping(
    store: &Store,
    filter: &Filter,
    after: Option<(DateTime<Utc>, Uuid)>,
    limit: i64,
) -> Result<Vec<SpanRow>, StoreError> {
    let (after_at, after_id) = after.unzip();
    Ok(sqlx::query_as!(
        SpanRow,
        r#"select r.id, r.number, r.state, j.id as job_id, j.name as job_name, j.user_id, j.kind, j.priority_class,
                  j.team_id, t.slug as team_slug, t.name as team_name, r.pool_id, p.slug as "pool_slug?",
                  j.time_limit_secs, r.placed_at, r.started_at, r.ended_at, r.leave_cause, r.leave_by
           from runs r join jobs j on j.id = r.job_id join teams t on t.id = j.team_id
           left join pools p on p.id = r.pool_id
           where tstzrange(r.placed_at, case when r.ended_at < r.placed_at then r.placed_at else r.ended_at end, '[]')
                 && tstzrange($1, $2, '[)')
             and ($3::uuid is null or r.pool_id = $3) and ($4::uuid[] is null or j.team_id = any($4))
             and ($5::uuid is null or j.queue_id = $5) and ($6::text is null or j.kind = $6)
             and ($7::uuid is null or j.user_id = $7)
             and ($8::timestamptz is null or (r.placed_at, r.id) < ($8, $9::uuid))
           order by r.placed_at desc, r.id desc limit $10"#,
        filter.from,
        filter.to,
        filter.pool.map(|id| id.0),
        filter.teams.as_deref(),
        filter.queue.map(|id| id.0),
        filter.kind.as_deref(),
        filter.user.map(|id| id.0),
        after_at,
        after_id,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// What one member held, and for how long.
#[derive(Debug, Clone)]
pub struct HeldRow {
    pub run_id: Uuid,
    pub member: i32,
    pub node_id: Uuid,
    pub node_name: String,
    pub gpu_indices: Vec<i32>,
    pub gpu_milli: i64,
    pub placed_at: DateTime<Utc>,
    /// When its GPUs were given back.
    pub released_at: Option<DateTime<Utc>>,
}

/// The members of these runs, in rank order.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn held(store: &Store, runs: &[Uuid]) -> Result<Vec<HeldRow>, StoreError> {
    Ok(sqlx::query_as!(
        HeldRow,
        r#"select m.run_id, m.member, m.node_id, n.name as node_name,
                  coalesce(array_agg(g.index order by g.index) filter (where g.id is not null), '{}') as "gpu_indices!",
                  coalesce(sum(h.milli), 0)::bigint as "gpu_milli!", m.placed_at, m.released_at
           from members m join nodes n on n.id = m.node_id
           left join member_gpus h on h.run_id = m.run_id and h.member = m.member
           left join gpus g on g.id = h.gpu_id
           where m.run_id = any($1) group by m.run_id, m.member, n.id order by m.run_id, m.member"#,
        runs
    )
    .fetch_all(store.pool())
    .await?)
}

/// How members of a run were made to leave.
#[derive(Debug, Clone)]
pub struct LeftRow {
    pub run_id: Uuid,
    pub id: Uuid,
    pub cause: String,
    pub outcome: String,
    pub members: Vec<i32>,
    pub notified_at: DateTime<Utc>,
}

/// The evictions of these runs, oldest first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn evictions(store: &Store, runs: &[Uuid]) -> Result<Vec<LeftRow>, StoreError> {
    Ok(sqlx::query_as!(
        LeftRow,
        "select r.id as run_id, e.id, e.cause, e.outcome, e.members, e.notified_at
         from runs r join evictions e on e.job_id = r.job_id and e.run_number = r.number
         where r.id = any($1) order by e.id",
        runs
    )
    .fetch_all(store.pool())
    .await?)
}
