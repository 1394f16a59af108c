//! Figures of the console's first page, each one query. It refuses to guess: what no interval covers is zero.

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
    /// Of nodes that were not removed.
    pub all_milli: i64,
    /// Of these: out of reach, and held by nobody.
    pub down_milli: i64,
}

/// Use, loans and capacity at `points` moments from `from` to `to`, both included: intervals that cover each moment.
///
/// Each interval is counted twice, where it enters and where it leaves, and the moments are running sums: the cost
/// grows with the intervals, not with intervals times moments. Moments are whole microseconds, as times are.
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
        r#"with scale as (
             select greatest($4::bigint - 1, 1) as steps,
                    greatest((extract(epoch from $3::timestamptz - $2::timestamptz) * 1000000)::bigint, 1) as micros
           ), intervals as (
             select started_at, ended_at, gpu_milli as used, 0 as borrowed, 0 as capacity, 0 as down
             from usage_intervals
             where started_at <= $3 and (ended_at is null or ended_at > $2) and ($1::uuid is null or pool_id = $1)
             union all
             select started_at, ended_at, 0, gpu_milli, 0, 0 from loans
             where started_at <= $3 and (ended_at is null or ended_at > $2) and ($1::uuid is null or pool_id = $1)
             union all
             select started_at, ended_at, 0, 0, gpu_milli, down_milli from capacity_intervals
             where started_at <= $3 and (ended_at is null or ended_at > $2) and ($1::uuid is null or pool_id = $1)
           ), edges as (
             select greatest(started_at, $2) as at, used, borrowed, capacity, down from intervals
             union all
             select ended_at, -used, -borrowed, -capacity, -down from intervals where ended_at <= $3
           ), steps as (
             -- The first moment that is not before the edge.
             select ((extract(epoch from e.at - $2::timestamptz) * 1000000)::bigint * s.steps + s.micros - 1) / s.micros
                      as step,
                    sum(e.used) as used, sum(e.borrowed) as borrowed, sum(e.capacity) as capacity, sum(e.down) as down
             from edges e, scale s group by 1
           )
           select $2::timestamptz + (s.micros * i / s.steps) * interval '1 microsecond' as "at!",
                  coalesce(sum(t.used) over before, 0)::bigint as "used_milli!",
                  coalesce(sum(t.borrowed) over before, 0)::bigint as "borrowed_milli!",
                  coalesce(sum(t.capacity) over before, 0)::bigint as "all_milli!",
                  coalesce(sum(t.down) over before, 0)::bigint as "down_milli!"
           from scale s, generate_series(0, $4::bigint - 1) as i left join steps t on t.step = i
           window before as (order by i) order by i"#,
        pool.map(|pool| pool.0),
        from,
        to,
        i64::from(points)
    )
    .fetch_all(store.pool())
    .await?)
}
