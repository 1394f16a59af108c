//! What was allocated, and what of it computed: by team and pool, over a stretch of time. Each sum adds up to the milli-GPU
//! second: allocated = busy + idle + unknown, and capacity = allocated + free + down.
//!
//! It refuses to guess: what no sample covers is unknown, neither busy nor idle.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::idle::SAMPLE_EVERY_SECS;
use uuid::Uuid;

/// A stretch of whole hours, and what it may be narrowed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    pub from: DateTime<Utc>,
    pub to: DateTime<Utc>,
    pub pool: Option<Uuid>,
    /// What runs is allocated until now.
    pub now: DateTime<Utc>,
}

/// A team's own jobs in a pool; amounts in milli-GPU seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamUse {
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub pool_id: Uuid,
    pub pool_slug: String,
    pub runs: i64,
    pub allocated: i64,
    pub busy: i64,
    pub idle: i64,
    pub unknown: i64,
}

/// What each team held, and how it was used. A run's samples are weighed alike over the stretch; each stands for a
/// quarter of a minute of one device.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn by_team(store: &Store, asked: &Asked) -> Result<Vec<TeamUse>, StoreError> {
    Ok(sqlx::query_as!(
        TeamUse,
        r#"with held as (
               select u.run_id, u.job_id, u.team_id, u.pool_id, r.number,
                      sum(u.gpu_milli * extract(epoch from least(coalesce(u.ended_at, $4), $2) - greatest(u.started_at, $1)))::bigint
                        as allocated
               from usage_intervals u join runs r on r.id = u.run_id
               where u.started_at < least($2, $4) and (u.ended_at is null or u.ended_at > $1)
                 and ($3::uuid is null or u.pool_id = $3)
               group by 1, 2, 3, 4, 5
           ), seen as (
               select h.job_id, h.run_number, sum(h.compute_samples)::bigint as compute, sum(h.busy_samples)::bigint as busy
               from held l join job_use_hours h on h.job_id = l.job_id and h.run_number = l.number
               where h.hour >= $1 and h.hour < $2 group by 1, 2
           ), told as (
               select l.team_id, l.pool_id, l.allocated, coalesce(s.compute, 0) as compute, coalesce(s.busy, 0) as busy,
                      least(l.allocated, coalesce(s.compute, 0) * $5::bigint * coalesce(j.gpu_milli, 1000)) as sampled
               from held l join jobs j on j.id = l.job_id
               left join seen s on s.job_id = l.job_id and s.run_number = l.number
           ), parts as (
               select team_id, pool_id, allocated, sampled,
                      case when compute > 0 then (sampled::numeric * busy / compute)::bigint else 0 end as busy
               from told
           )
           select t.id as team_id, t.slug as team_slug, t.name as team_name, p.id as pool_id, p.slug as pool_slug,
                  count(*) as "runs!", sum(x.allocated)::bigint as "allocated!", sum(x.busy)::bigint as "busy!",
                  sum(x.sampled - x.busy)::bigint as "idle!", sum(x.allocated - x.sampled)::bigint as "unknown!"
           from parts x join teams t on t.id = x.team_id join pools p on p.id = x.pool_id
           group by t.id, p.id order by p.slug, t.slug, t.id"#,
        asked.from,
        asked.to,
        asked.pool,
        asked.now,
        i64::from(SAMPLE_EVERY_SECS)
    )
    .fetch_all(store.pool())
    .await?)
}

/// A pool's capacity; amounts in milli-GPU seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolCapacity {
    pub pool_id: Uuid,
    pub pool_slug: String,
    pub capacity: i64,
    /// Held by nobody, and out of reach.
    pub down: i64,
    /// Held by nobody, beside others' work on the same node: no job that asks for a whole node goes there.
    pub fragmented: i64,
}

/// What each pool had. Fragments are counted by today's GPUs of each node.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn capacity(store: &Store, asked: &Asked) -> Result<Vec<PoolCapacity>, StoreError> {
    Ok(sqlx::query_as!(
        PoolCapacity,
        r#"with had as (
               select c.pool_id,
                      sum(c.gpu_milli * extract(epoch from least(coalesce(c.ended_at, $4), $2) - greatest(c.started_at, $1)))::bigint
                        as capacity,
                      sum(c.down_milli * extract(epoch from least(coalesce(c.ended_at, $4), $2) - greatest(c.started_at, $1)))::bigint
                        as down
               from capacity_intervals c
               where c.started_at < least($2, $4) and (c.ended_at is null or c.ended_at > $1)
                 and ($3::uuid is null or c.pool_id = $3)
               group by 1
           ), held as (
               select m.node_id, greatest(m.placed_at, $1) as begins, least(coalesce(m.released_at, $4), $2, $4) as ends,
                      sum(o.milli) as milli
               from members m join member_gpus o on o.run_id = m.run_id and o.member = m.member
               where m.placed_at < least($2, $4) and (m.released_at is null or m.released_at > $1)
               group by m.run_id, m.member
           ), edges as (
               select node_id, begins as at, milli from held union all select node_id, ends, -milli from held
           ), steps as (
               select node_id, at, sum(sum(milli)) over (partition by node_id order by at) as held,
                      lead(at) over (partition by node_id order by at) as until
               from edges group by node_id, at
           ), of_nodes as (
               select n.id, n.pool_id, count(g.id) * 1000 as milli from nodes n join gpus g on g.node_id = n.id group by n.id
           ), fragments as (
               select n.pool_id, sum((n.milli - s.held) * extract(epoch from s.until - s.at))::bigint as fragmented
               from steps s join of_nodes n on n.id = s.node_id
               where s.until is not null and s.held > 0 and s.held < n.milli group by 1
           )
           select p.id as pool_id, p.slug as pool_slug, h.capacity as "capacity!", h.down as "down!",
                  coalesce(f.fragmented, 0) as "fragmented!"
           from had h join pools p on p.id = h.pool_id left join fragments f on f.pool_id = p.id
           order by p.slug, p.id"#,
        asked.from,
        asked.to,
        asked.pool,
        asked.now
    )
    .fetch_all(store.pool())
    .await?)
}

/// How the jobs of a team, queue and kind used what they asked for: hours of runs, weighed alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub queue_slug: String,
    pub kind: String,
    pub jobs: i64,
    pub hours: i64,
    pub compute_permille_p50: Option<i64>,
    pub compute_permille_p95: Option<i64>,
    pub compute_permille_max: Option<i64>,
    pub memory_used_mib_p50: Option<i64>,
    pub memory_used_mib_p95: Option<i64>,
    pub memory_used_mib_max: Option<i64>,
    /// What one device of theirs has, or the share of it that they asked for: the least of them.
    pub memory_asked_mib: Option<i64>,
}

/// Profiles of these teams (`None` = all), at most `limit`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn profiles(
    store: &Store,
    asked: &Asked,
    teams: Option<&[Uuid]>,
    limit: i64,
) -> Result<Vec<Profile>, StoreError> {
    Ok(sqlx::query_as!(
        Profile,
        r#"with hours as (
               select h.job_id, h.run_number, h.hour, h.compute_permille_sum / nullif(h.compute_samples, 0) as compute,
                      h.compute_permille_max, h.memory_used_mib_max
               from job_use_hours h where h.hour >= $1 and h.hour < $2
           ), asked as (
               select m.job_id, m.run_number, min(o.memory_mib) as memory_mib
               from members m join member_gpus o on o.run_id = m.run_id and o.member = m.member
               where m.job_id in (select job_id from hours) group by 1, 2
           )
           select t.id as team_id, t.slug as team_slug, t.name as team_name, q.slug as queue_slug, j.kind,
                  count(distinct h.job_id) as "jobs!", count(*) as "hours!",
                  percentile_disc(0.5) within group (order by h.compute) as compute_permille_p50,
                  percentile_disc(0.95) within group (order by h.compute) as compute_permille_p95,
                  max(h.compute_permille_max)::bigint as compute_permille_max,
                  percentile_disc(0.5) within group (order by h.memory_used_mib_max) as memory_used_mib_p50,
                  percentile_disc(0.95) within group (order by h.memory_used_mib_max) as memory_used_mib_p95,
                  max(h.memory_used_mib_max) as memory_used_mib_max, min(a.memory_mib) as memory_asked_mib
           from hours h join jobs j on j.id = h.job_id join teams t on t.id = j.team_id join queues q on q.id = j.queue_id
           join runs r on r.job_id = h.job_id and r.number = h.run_number
           left join asked a on a.job_id = h.job_id and a.run_number = h.run_number
           where ($3::uuid[] is null or j.team_id = any($3)) and ($4::uuid is null or r.pool_id = $4)
           group by t.id, q.slug, j.kind order by t.slug, q.slug, j.kind limit $5"#,
        asked.from,
        asked.to,
        teams,
        asked.pool,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// How many of the GPUs that a job's newest run holds or held have computed in the stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Computed {
    pub gpus: i64,
    pub computed: i64,
    /// Of one of them.
    pub memory_mib: Option<i64>,
}

/// # Errors
/// [`StoreError::Unavailable`].
pub async fn computed(
    store: &Store,
    job: Uuid,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> Result<Computed, StoreError> {
    Ok(sqlx::query_as!(
        Computed,
        r#"with newest as (
               select id, number from runs where job_id = $1 order by number desc limit 1
           ), held as (
               select distinct o.gpu_id, o.memory_mib from newest r join member_gpus o on o.run_id = r.id
           )
           select count(*) as "gpus!", min(h.memory_mib) as memory_mib,
                  count(*) filter (where exists (
                      select from gpu_samples s
                      where s.gpu_id = h.gpu_id and s.at >= $2 and s.at < $3 and $1 = any(s.job_ids)
                        and s.compute_permille > coalesce((select p.busy_above_permille from run_pauses p, newest r
                                                           where p.job_id = $1 and p.run_number = r.number), 30)))
                    as "computed!"
           from held h"#,
        job,
        from,
        to
    )
    .fetch_one(store.pool())
    .await?)
}
