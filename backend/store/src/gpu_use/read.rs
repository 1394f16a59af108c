//! How jobs and GPUs were used: points over a stretch of time, and the figures of the whole.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::id::{JobId, NodeId};
use uuid::Uuid;

/// A job's use in one bucket of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobPoint {
    pub at: DateTime<Utc>,
    pub samples: i64,
    pub compute_permille_mean: Option<i64>,
    pub compute_permille_max: i64,
    pub memory_used_mib_max: i64,
    /// Of one GPU, on average.
    pub power_milliwatts_mean: i64,
}

/// A job's use as a whole: minutes weighed alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobUse {
    pub minutes: i64,
    pub first_at: Option<DateTime<Utc>>,
    pub last_at: Option<DateTime<Utc>>,
    /// The last minute in which any of its GPUs computed.
    pub last_busy_at: Option<DateTime<Utc>>,
    pub compute_permille_p50: Option<i64>,
    pub compute_permille_p95: Option<i64>,
    pub compute_permille_max: Option<i64>,
    pub memory_used_mib_p50: Option<i64>,
    pub memory_used_mib_p95: Option<i64>,
    pub memory_used_mib_max: Option<i64>,
}

/// One GPU's use in one bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuPoint {
    pub gpu_id: Uuid,
    pub index: i32,
    pub at: DateTime<Utc>,
    pub samples: i64,
    pub held_samples: i64,
    pub compute_permille_mean: Option<i64>,
    pub compute_permille_max: i64,
    pub memory_used_mib_max: i64,
    pub power_milliwatts_mean: i64,
    pub temperature_celsius_max: Option<i16>,
}

/// A job's points from `from` to before `to`, in buckets of so many seconds (whole minutes), earliest first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn job_points(
    store: &Store,
    job: JobId,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    bucket_secs: i64,
) -> Result<Vec<JobPoint>, StoreError> {
    Ok(sqlx::query_as!(
        JobPoint,
        r#"select to_timestamp(floor(extract(epoch from minute) / $4::bigint) * $4::bigint) as "at!",
                  sum(samples)::bigint as "samples!",
                  (sum(compute_permille_sum) / nullif(sum(compute_samples), 0))::bigint as compute_permille_mean,
                  max(compute_permille_max)::bigint as "compute_permille_max!",
                  max(memory_used_mib_max) as "memory_used_mib_max!",
                  (sum(power_milliwatts_sum) / sum(samples))::bigint as "power_milliwatts_mean!"
           from job_use_minutes where job_id = $1 and minute >= $2 and minute < $3
           group by 1 order by 1"#,
        job.0,
        from,
        to,
        bucket_secs
    )
    .fetch_all(store.pool())
    .await?)
}

/// A job's figures over the same stretch.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn job_use(
    store: &Store,
    job: JobId,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> Result<JobUse, StoreError> {
    Ok(sqlx::query_as!(
        JobUse,
        r#"with minutes as (
               select minute, compute_permille_sum / nullif(compute_samples, 0) as compute, compute_permille_max, busy_samples,
                      memory_used_mib_max
               from job_use_minutes where job_id = $1 and minute >= $2 and minute < $3
           )
           select count(*) as "minutes!", min(minute) as first_at, max(minute) as last_at,
                  max(minute) filter (where busy_samples > 0) as last_busy_at,
                  percentile_disc(0.5) within group (order by compute) as compute_permille_p50,
                  percentile_disc(0.95) within group (order by compute) as compute_permille_p95,
                  max(compute_permille_max)::bigint as compute_permille_max,
                  percentile_disc(0.5) within group (order by memory_used_mib_max) as memory_used_mib_p50,
                  percentile_disc(0.95) within group (order by memory_used_mib_max) as memory_used_mib_p95,
                  max(memory_used_mib_max) as memory_used_mib_max
           from minutes"#,
        job.0,
        from,
        to
    )
    .fetch_one(store.pool())
    .await?)
}

/// The GPUs of a node, in buckets of so many seconds (whole hours), by GPU and then time.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn node_points(
    store: &Store,
    node: NodeId,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    bucket_secs: i64,
) -> Result<Vec<GpuPoint>, StoreError> {
    Ok(sqlx::query_as!(
        GpuPoint,
        r#"select g.id as gpu_id, g.index,
                  to_timestamp(floor(extract(epoch from h.hour) / $4::bigint) * $4::bigint) as "at!",
                  sum(h.samples)::bigint as "samples!", sum(h.held_samples)::bigint as "held_samples!",
                  (sum(h.compute_permille_sum) / nullif(sum(h.compute_samples), 0))::bigint as compute_permille_mean,
                  max(h.compute_permille_max)::bigint as "compute_permille_max!",
                  max(h.memory_used_mib_max) as "memory_used_mib_max!",
                  (sum(h.power_milliwatts_sum) / sum(h.samples))::bigint as "power_milliwatts_mean!",
                  max(h.temperature_celsius_max) as temperature_celsius_max
           from gpus g join gpu_use_hours h on h.gpu_id = g.id
           where g.node_id = $1 and h.hour >= $2 and h.hour < $3
           group by 1, 2, 3 order by 2, 3"#,
        node.0,
        from,
        to,
        bucket_secs
    )
    .fetch_all(store.pool())
    .await?)
}

/// The newest sample of each GPU of a node that came since `since`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latest {
    pub gpu_id: Uuid,
    pub index: i32,
    pub at: DateTime<Utc>,
    pub job_ids: Vec<Uuid>,
    pub compute_permille: Option<i16>,
    pub memory_used_mib: Option<i64>,
    pub power_milliwatts: Option<i64>,
    pub temperature_celsius: Option<i16>,
    pub pcie_kib_per_s: Option<i64>,
}

/// # Errors
/// [`StoreError::Unavailable`].
pub async fn latest(store: &Store, node: NodeId, since: DateTime<Utc>) -> Result<Vec<Latest>, StoreError> {
    Ok(sqlx::query_as!(
        Latest,
        "select g.id as gpu_id, g.index, s.at, s.job_ids, s.compute_permille, s.memory_used_mib, s.power_milliwatts,
                s.temperature_celsius, s.pcie_kib_per_s
         from gpus g cross join lateral (
             select * from gpu_samples where gpu_id = g.id and at >= $2 order by at desc limit 1) s
         where g.node_id = $1 order by g.index",
        node.0,
        since
    )
    .fetch_all(store.pool())
    .await?)
}
