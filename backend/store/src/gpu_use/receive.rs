//! A node's samples, taken in by one statement: each once, and what is rolled up of them with it.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::NodeId;
use serde::Serialize;
use sqlx::types::Json;
use uuid::Uuid;

/// How far a sample may lie ahead: clocks differ, if little.
const MOST_AHEAD: TimeDelta = TimeDelta::minutes(5);

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
    /// Jobs whose members the node says run on it.
    pub job_ids: Vec<Uuid>,
}

/// Keeps a node's samples; answers how many were new. Of a job they count only if it has a member on that node: a node
/// speaks for nobody else's.
///
/// # Errors
/// [`StoreError::Unavailable`]; nothing is kept then.
pub async fn receive(
    store: &Store,
    node: NodeId,
    samples: &[Sample],
    now: DateTime<Utc>,
) -> Result<u64, StoreError> {
    let oldest = now - TimeDelta::days(i64::try_from(super::keep::SAMPLE_DAYS).unwrap_or(i64::MAX));
    let kept: Vec<&Sample> =
        samples.iter().filter(|sample| sample.at > oldest && sample.at <= now + MOST_AHEAD).collect();
    let kept = sqlx::query_scalar!(
        r#"with told as materialized (
               select g.id as gpu_id, s.at, s.compute_permille, s.memory_used_mib, s.power_milliwatts,
                      s.temperature_celsius, s.pcie_kib_per_s,
                      array(select distinct m.job_id from members m
                            where m.node_id = $1 and m.job_id = any(s.job_ids)) as job_ids
               from jsonb_to_recordset($2::jsonb) as s(
                   at timestamptz, index integer, compute_permille smallint, memory_used_mib bigint,
                   power_milliwatts bigint, temperature_celsius smallint, pcie_kib_per_s bigint, job_ids uuid[])
               join gpus g on g.node_id = $1 and g.index = s.index
           ), fresh as (
               insert into gpu_samples (gpu_id, at, job_ids, compute_permille, memory_used_mib, power_milliwatts,
                                        temperature_celsius, pcie_kib_per_s)
               select gpu_id, at, job_ids, compute_permille, memory_used_mib, power_milliwatts, temperature_celsius,
                      pcie_kib_per_s
               from told order by gpu_id, at
               on conflict (gpu_id, at) do nothing
               returning gpu_id, at, job_ids, compute_permille, memory_used_mib, power_milliwatts, temperature_celsius
           ), minutes as (
               insert into job_use_minutes as m (job_id, minute, run_number, samples, compute_samples,
                   compute_permille_sum, compute_permille_max, memory_used_mib_max, power_milliwatts_sum)
               select j.id, date_trunc('minute', f.at, 'UTC'), j.run_number, count(*), count(f.compute_permille),
                      coalesce(sum(f.compute_permille), 0), coalesce(max(f.compute_permille), 0),
                      coalesce(max(f.memory_used_mib), 0), coalesce(sum(f.power_milliwatts), 0)
               from fresh f cross join unnest(f.job_ids) as held(job_id) join jobs j on j.id = held.job_id
               group by 1, 2, 3 order by 1, 2
               on conflict (job_id, minute) do update set
                   run_number = excluded.run_number,
                   samples = m.samples + excluded.samples,
                   compute_samples = m.compute_samples + excluded.compute_samples,
                   compute_permille_sum = m.compute_permille_sum + excluded.compute_permille_sum,
                   compute_permille_max = greatest(m.compute_permille_max, excluded.compute_permille_max),
                   memory_used_mib_max = greatest(m.memory_used_mib_max, excluded.memory_used_mib_max),
                   power_milliwatts_sum = m.power_milliwatts_sum + excluded.power_milliwatts_sum
           ), hours as (
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
        node.0,
        Json(&kept) as _
    )
    .fetch_one(store.pool())
    .await?;
    Ok(u64::try_from(kept).unwrap_or(0))
}
