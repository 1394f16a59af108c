//! A node's samples, taken in by one statement: each once, and what is rolled up of them with it.

use super::keep;
use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::NodeId;
use serde::Serialize;
use sqlx::types::Json;
use uuid::Uuid;

/// How far a sample may lie ahead: clocks differ, if little.
const MOST_AHEAD: TimeDelta = TimeDelta::minutes(5);
/// PostgreSQL's word for a row that no partition takes.
const NO_PARTITION: &str = "23514";

/// One GPU at one moment of the server's clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sample {
    pub at: DateTime<Utc>,
    pub index: u32,
    pub compute_permille: Option<u32>,
    pub memory_used_mib: Option<i64>,
    pub power_milliwatts: Option<i64>,
    pub temperature_celsius: Option<i32>,
    pub pcie_kib_per_s: Option<i64>,
    /// Who the node says runs on it.
    pub members: Vec<Runs>,
}

/// A member of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Runs {
    pub job_id: Uuid,
    pub run_number: i64,
    pub member: i64,
}

/// The statement: what was told, what is new of it, and what that adds to each roll-up.
macro_rules! keep_samples {
    ($node:expr, $samples:expr) => {
        sqlx::query_scalar!(
            r#"with told as materialized (
                   select distinct on (g.id, s.at) g.id as gpu_id, s.at, s.compute_permille, s.memory_used_mib,
                          s.power_milliwatts, s.temperature_celsius, s.pcie_kib_per_s, held.job_ids, held.run_numbers
                   from jsonb_to_recordset($2::jsonb) as s(
                       at timestamptz, index integer, compute_permille smallint, memory_used_mib bigint,
                       power_milliwatts bigint, temperature_celsius smallint, pcie_kib_per_s bigint, members jsonb)
                   join gpus g on g.node_id = $1 and g.index = s.index
                   cross join lateral (
                       select coalesce(array_agg(h.job_id order by h.job_id), '{}') as job_ids,
                              coalesce(array_agg(h.run_number order by h.job_id), '{}') as run_numbers
                       from (select distinct on (m.job_id) m.job_id, m.run_number
                             from jsonb_to_recordset(s.members) as k(job_id uuid, run_number integer, member integer)
                             join members m on m.job_id = k.job_id and m.run_number = k.run_number and m.member = k.member
                             join member_gpus o on o.run_id = m.run_id and o.member = m.member and o.gpu_id = g.id
                             where m.node_id = $1 and s.at > m.placed_at - interval '1 minute'
                               and (m.released_at is null or s.at < m.released_at + interval '1 minute')
                             order by m.job_id, m.run_number desc) h) held
                   order by g.id, s.at
               ), fresh as (
                   insert into gpu_samples (gpu_id, at, job_ids, compute_permille, memory_used_mib, power_milliwatts,
                                            temperature_celsius, pcie_kib_per_s)
                   select gpu_id, at, job_ids, compute_permille, memory_used_mib, power_milliwatts, temperature_celsius,
                          pcie_kib_per_s
                   from told order by gpu_id, at
                   on conflict (gpu_id, at) do nothing
                   returning gpu_id, at, job_ids, compute_permille, memory_used_mib, power_milliwatts, temperature_celsius
               ), marked as (
                   select r.job_id, r.run_number, f.at, f.compute_permille, f.memory_used_mib, f.power_milliwatts,
                          f.compute_permille > coalesce(p.busy_above_permille, 30) as busy
                   from fresh f join told t on t.gpu_id = f.gpu_id and t.at = f.at
                   cross join unnest(t.job_ids, t.run_numbers) as r(job_id, run_number)
                   left join run_pauses p on p.job_id = r.job_id and p.run_number = r.run_number
               ), spaced as (
                   select job_id, run_number, at, busy,
                          extract(epoch from at - lag(at) over (partition by job_id, run_number, busy order by at))::bigint as gap
                   from marked
               ), pauses as (
                   insert into run_pauses as p (job_id, run_number, first_sample_at, last_sample_at, first_busy_at,
                                                last_busy_at, longest_pause_secs)
                   select job_id, run_number, min(at), max(at), min(at) filter (where busy), max(at) filter (where busy),
                          coalesce(max(gap) filter (where busy and gap >= 60), 0)
                   from spaced group by 1, 2 order by 1, 2
                   on conflict (job_id, run_number) do update set
                       first_sample_at = least(p.first_sample_at, excluded.first_sample_at),
                       last_sample_at = greatest(p.last_sample_at, excluded.last_sample_at),
                       first_busy_at = least(p.first_busy_at, excluded.first_busy_at),
                       last_busy_at = greatest(p.last_busy_at, excluded.last_busy_at),
                       longest_pause_secs = greatest(p.longest_pause_secs, excluded.longest_pause_secs,
                           case when excluded.first_busy_at >= p.last_busy_at + interval '60 seconds'
                                then extract(epoch from excluded.first_busy_at - p.last_busy_at)::bigint end)
               ), of_jobs as materialized (
                   select job_id, run_number, date_trunc('minute', at, 'UTC') as minute, count(*)::integer as samples,
                          count(compute_permille)::integer as compute_samples,
                          (count(*) filter (where busy))::integer as busy_samples,
                          coalesce(sum(compute_permille), 0) as compute_permille_sum,
                          coalesce(max(compute_permille), 0)::smallint as compute_permille_max,
                          coalesce(max(memory_used_mib), 0) as memory_used_mib_max,
                          coalesce(sum(power_milliwatts), 0)::bigint as power_milliwatts_sum
                   from marked group by 1, 2, 3
               ), minutes as (
                   insert into job_use_minutes as m (job_id, run_number, minute, samples, compute_samples, busy_samples,
                       compute_permille_sum, compute_permille_max, memory_used_mib_max, power_milliwatts_sum)
                   select job_id, run_number, minute, samples, compute_samples, busy_samples, compute_permille_sum,
                          compute_permille_max, memory_used_mib_max, power_milliwatts_sum
                   from of_jobs order by job_id, minute, run_number
                   on conflict (job_id, minute, run_number) do update set
                       samples = m.samples + excluded.samples,
                       compute_samples = m.compute_samples + excluded.compute_samples,
                       busy_samples = m.busy_samples + excluded.busy_samples,
                       compute_permille_sum = m.compute_permille_sum + excluded.compute_permille_sum,
                       compute_permille_max = greatest(m.compute_permille_max, excluded.compute_permille_max),
                       memory_used_mib_max = greatest(m.memory_used_mib_max, excluded.memory_used_mib_max),
                       power_milliwatts_sum = m.power_milliwatts_sum + excluded.power_milliwatts_sum
               ), job_hours as (
                   insert into job_use_hours as h (job_id, run_number, hour, samples, compute_samples, busy_samples,
                       compute_permille_sum, compute_permille_max, memory_used_mib_max, power_milliwatts_sum)
                   select job_id, run_number, date_trunc('hour', minute, 'UTC'), sum(samples), sum(compute_samples),
                          sum(busy_samples), sum(compute_permille_sum), max(compute_permille_max),
                          max(memory_used_mib_max), sum(power_milliwatts_sum)
                   from of_jobs group by 1, 2, 3 order by 1, 3, 2
                   on conflict (job_id, hour, run_number) do update set
                       samples = h.samples + excluded.samples,
                       compute_samples = h.compute_samples + excluded.compute_samples,
                       busy_samples = h.busy_samples + excluded.busy_samples,
                       compute_permille_sum = h.compute_permille_sum + excluded.compute_permille_sum,
                       compute_permille_max = greatest(h.compute_permille_max, excluded.compute_permille_max),
                       memory_used_mib_max = greatest(h.memory_used_mib_max, excluded.memory_used_mib_max),
                       power_milliwatts_sum = h.power_milliwatts_sum + excluded.power_milliwatts_sum
               ), gpu_hours as (
                   insert into gpu_use_hours as h (gpu_id, hour, samples, held_samples, compute_samples,
                       compute_permille_sum, compute_permille_max, memory_used_mib_max, power_milliwatts_sum,
                       temperature_celsius_max)
                   select gpu_id, date_trunc('hour', at, 'UTC'), count(*), count(*) filter (where job_ids <> '{}'),
                          count(compute_permille), coalesce(sum(compute_permille), 0), coalesce(max(compute_permille), 0),
                          coalesce(max(memory_used_mib), 0), coalesce(sum(power_milliwatts), 0), max(temperature_celsius)
                   from fresh group by 1, 2 order by 1, 2
                   on conflict (gpu_id, hour) do update set
                       samples = h.samples + excluded.samples,
                       held_samples = h.held_samples + excluded.held_samples,
                       compute_samples = h.compute_samples + excluded.compute_samples,
                       compute_permille_sum = h.compute_permille_sum + excluded.compute_permille_sum,
                       compute_permille_max = greatest(h.compute_permille_max, excluded.compute_permille_max),
                       memory_used_mib_max = greatest(h.memory_used_mib_max, excluded.memory_used_mib_max),
                       power_milliwatts_sum = h.power_milliwatts_sum + excluded.power_milliwatts_sum,
                       temperature_celsius_max = greatest(h.temperature_celsius_max, excluded.temperature_celsius_max)
               )
               select count(*) as "kept!" from fresh"#,
            $node,
            $samples as _
        )
    };
}

/// Keeps a node's samples; answers how many were new. They count for a run only if it held that GPU of that node then:
/// a node speaks for nobody else's jobs, and a late sample for no later run.
///
/// # Errors
/// [`StoreError::Unavailable`]; nothing is kept then.
pub async fn receive(
    store: &Store,
    node: NodeId,
    samples: &[Sample],
    now: DateTime<Utc>,
) -> Result<u64, StoreError> {
    let oldest = now - TimeDelta::days(i64::try_from(keep::SAMPLE_DAYS).unwrap_or(i64::MAX));
    let kept: Vec<&Sample> =
        samples.iter().filter(|sample| sample.at > oldest && sample.at <= now + MOST_AHEAD).collect();
    if kept.is_empty() {
        return Ok(0);
    }
    match insert(store, node, &kept).await {
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(NO_PARTITION) => {
            // The first samples of a new installation, or of a day that nobody has made ready.
            keep::days(store, now).await?;
            Ok(insert(store, node, &kept).await?)
        }
        kept => Ok(kept?),
    }
}

async fn insert(store: &Store, node: NodeId, samples: &[&Sample]) -> Result<u64, sqlx::Error> {
    let kept = keep_samples!(node.0, Json(samples)).fetch_one(store.pool()).await?;
    Ok(u64::try_from(kept).unwrap_or(0))
}
