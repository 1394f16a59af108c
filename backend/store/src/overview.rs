//! Figures of the console's first page, each one query.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::id::{PoolId, TeamId};
use uuid::Uuid;

/// Jobs by state, now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiveJobs {
    pub queued: i64,
    pub starting: i64,
    pub running: i64,
    pub leaving: i64,
}

/// Live jobs of these teams; `None` = all.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn live_jobs(store: &Store, teams: Option<&[TeamId]>) -> Result<LiveJobs, StoreError> {
    let teams: Option<Vec<Uuid>> = teams.map(|teams| teams.iter().map(|team| team.0).collect());
    Ok(sqlx::query_as!(
        LiveJobs,
        r#"select count(*) filter (where state = 'queued') as "queued!",
             count(*) filter (where state = 'starting') as "starting!",
             count(*) filter (where state = 'running') as "running!",
             count(*) filter (where state = 'leaving') as "leaving!"
           from jobs where state in ('queued', 'starting', 'running', 'leaving')
             and ($1::uuid[] is null or team_id = any($1))"#,
        teams.as_deref()
    )
    .fetch_one(store.pool())
    .await?)
}

/// Evictions notified since then.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn evictions_since(store: &Store, since: DateTime<Utc>) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar!(r#"select count(*) as "count!" from evictions where notified_at >= $1"#, since)
        .fetch_one(store.pool())
        .await?)
}

/// One moment of a pool's past, in milli-GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryPoint {
    pub at: DateTime<Utc>,
    pub used_milli: i64,
    pub borrowed_milli: i64,
}

/// Use and loans at `points` moments from `from` to `to`, both included: intervals that cover each moment.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn history(
    store: &Store,
    pool: Option<PoolId>,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    points: i32,
) -> Result<Vec<HistoryPoint>, StoreError> {
    Ok(sqlx::query_as!(
        HistoryPoint,
        r#"with moments as (
             select $2::timestamptz + ($3::timestamptz - $2::timestamptz) * (i::float8 / greatest($4::int - 1, 1)) as at
             from generate_series(0, $4::int - 1) as i
           ), used as (
             select m.at, sum(u.gpu_milli) as milli from moments m join usage_intervals u
               on u.started_at <= m.at and (u.ended_at is null or u.ended_at > m.at)
             where ($1::uuid is null or u.pool_id = $1) and (u.ended_at is null or u.ended_at > $2)
             group by 1
           ), borrowed as (
             select m.at, sum(l.gpu_milli) as milli from moments m join loans l
               on l.started_at <= m.at and (l.ended_at is null or l.ended_at > m.at)
             where ($1::uuid is null or l.pool_id = $1) and (l.ended_at is null or l.ended_at > $2)
             group by 1
           )
           select m.at as "at!", coalesce(u.milli, 0)::bigint as "used_milli!",
                  coalesce(b.milli, 0)::bigint as "borrowed_milli!"
           from moments m left join used u on u.at = m.at left join borrowed b on b.at = m.at order by m.at"#,
        pool.map(|pool| pool.0),
        from,
        to,
        points
    )
    .fetch_all(store.pool())
    .await?)
}

/// Capacity of a pool (or all), now: all GPUs, and those of lost nodes or out of health. Milli-GPU.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn capacity(store: &Store, pool: Option<PoolId>) -> Result<(i64, i64), StoreError> {
    let row = sqlx::query!(
        r#"select count(*) * 1000 as "all!",
             count(*) filter (where n.state = 'lost' or g.health <> 'healthy') * 1000 as "down!"
           from gpus g join nodes n on n.id = g.node_id
           where n.state <> 'removed' and ($1::uuid is null or n.pool_id = $1)"#,
        pool.map(|pool| pool.0)
    )
    .fetch_one(store.pool())
    .await?;
    Ok((row.all, row.down))
}
