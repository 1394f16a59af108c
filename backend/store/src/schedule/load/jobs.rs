//! Loads the jobs that wait or hold something, with their members, evictions and explanations: all, or those that are
//! named. The one place in which a job's row becomes what the planner sees.

use super::members::load_members;
use crate::error::StoreError;
use crate::row::{count, text_map, word};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::JobId;
use reeve_core::job::{GpuAsk, Shape};
use reeve_core::priority::PriorityClass;
use reeve_core::schedule::snapshot::Job;
use reeve_core::units::{Mib, MilliCpu, MilliGpu};
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

/// Live jobs in the order of their ids, and what is known of them beside.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    /// `evictions_in_last_day` is left at 0: it depends on the time.
    pub(crate) jobs: Vec<Job>,
    /// Hash of each stored explanation.
    pub(crate) reason_hashes: HashMap<JobId, i64>,
    /// When whole gangs were asked to leave, since a day before they were loaded.
    pub(crate) evicted_at: HashMap<JobId, Vec<DateTime<Utc>>>,
}

struct JobRow {
    id: Uuid,
    name: String,
    team_id: Uuid,
    queue_id: Uuid,
    user_id: Uuid,
    kind: String,
    priority_class: String,
    submitted_at: DateTime<Utc>,
    gpus: i32,
    gpu_milli: Option<i64>,
    gpu_memory_mib: Option<i64>,
    cpu_milli: i64,
    memory_mib: i64,
    min_replicas: i32,
    max_replicas: i32,
    pool_ids: Vec<Uuid>,
    gpu_model: Option<String>,
    node_labels: serde_json::Value,
    require_topology: Option<String>,
    prefer_topology: Option<String>,
    nvlink: String,
    rdma: bool,
    time_limit_secs: Option<i64>,
    preemptible: bool,
    evict_others: bool,
    requeue: bool,
    checkpoint: String,
    last_checkpoint_at: Option<DateTime<Utc>>,
    run_number: i32,
    held: bool,
    idle: bool,
    reason_hash: Option<i64>,
}

macro_rules! select_live_jobs {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            JobRow,
            r#"select id, name, team_id, queue_id, user_id, kind, priority_class, submitted_at, gpus, gpu_milli,
                    gpu_memory_mib, cpu_milli, memory_mib, min_replicas, max_replicas, pool_ids, gpu_model, node_labels,
                    require_topology, prefer_topology, nvlink, rdma, time_limit_secs, preemptible, evict_others, requeue,
                    checkpoint, last_checkpoint_at, run_number, held,
                    exists (select from idle_notices n where n.job_id = jobs.id and n.closed_at is null
                            and n.state = 'reclaimable') as "idle!", reason_hash
             from jobs where state in ('queued', 'starting', 'running', 'leaving') and not waits_for_jobs "# + $rest
            $(, $argument)*
        )
    };
}

/// All live jobs, or of `only` those that are.
pub(crate) async fn load_jobs(
    connection: &mut PgConnection,
    only: Option<&[Uuid]>,
    now: DateTime<Utc>,
) -> Result<Jobs, StoreError> {
    let rows = match only {
        None => select_live_jobs!("order by id").fetch_all(&mut *connection).await?,
        Some(only) => {
            select_live_jobs!("and id = any($1) order by id", only).fetch_all(&mut *connection).await?
        }
    };
    let mut members = load_members(connection, only).await?;
    let mut loaded = Jobs { evicted_at: load_evictions(connection, only, now).await?, ..Jobs::default() };
    loaded.jobs.reserve_exact(rows.len());
    for row in rows {
        if let Some(hash) = row.reason_hash {
            loaded.reason_hashes.insert(JobId(row.id), hash);
        }
        let members = members.remove(&row.id).unwrap_or_default();
        loaded.jobs.push(Job { members, ..job(row)? });
    }
    Ok(loaded)
}

fn job(row: JobRow) -> Result<Job, StoreError> {
    let priority: PriorityClass = word(&row.priority_class)?;
    Ok(Job {
        id: row.id.into(),
        name: row.name,
        team: row.team_id.into(),
        queue: row.queue_id.into(),
        user: row.user_id.into(),
        kind: word(&row.kind)?,
        priority: priority.value(),
        team_priority: None,
        submitted_at: row.submitted_at,
        shape: Shape {
            gpus: gpu_ask(count(row.gpus)?, row.gpu_milli, row.gpu_memory_mib),
            cpu: MilliCpu(row.cpu_milli),
            memory: Mib(row.memory_mib),
        },
        min_replicas: count(row.min_replicas)?,
        max_replicas: count(row.max_replicas)?,
        pools: row.pool_ids.into_iter().map(Into::into).collect(),
        gpu_model: row.gpu_model,
        labels: text_map(row.node_labels)?,
        require_topology: row.require_topology,
        prefer_topology: row.prefer_topology,
        nvlink: word(&row.nvlink)?,
        rdma: row.rdma,
        time_limit_secs: row.time_limit_secs,
        preemptible: row.preemptible,
        idle: row.idle,
        never_evict: false,
        evict_others: row.evict_others,
        requeue: row.requeue,
        checkpoint: word(&row.checkpoint)?,
        last_checkpoint_at: row.last_checkpoint_at,
        run_number: count(row.run_number)?,
        evictions_in_last_day: 0,
        held: row.held,
        members: Vec::new(),
    })
}

fn gpu_ask(gpus: u32, milli: Option<i64>, memory_mib: Option<i64>) -> GpuAsk {
    match (gpus, milli) {
        (0, _) => GpuAsk::None,
        (gpus, None) => GpuAsk::Whole { gpus },
        (devices, Some(milli)) => {
            GpuAsk::Share { devices, milli: MilliGpu(milli), memory: Mib(memory_mib.unwrap_or(0)) }
        }
    }
}

struct EvictionRow {
    job_id: Uuid,
    notified_at: DateTime<Utc>,
}

macro_rules! select_evictions {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            EvictionRow,
            "select e.job_id, e.notified_at from evictions e join jobs j on j.id = e.job_id
             where not e.surplus_only and j.state in ('queued', 'starting', 'running', 'leaving') " + $rest
            $(, $argument)*
        )
    };
}

async fn load_evictions(
    connection: &mut PgConnection,
    only: Option<&[Uuid]>,
    now: DateTime<Utc>,
) -> Result<HashMap<JobId, Vec<DateTime<Utc>>>, StoreError> {
    let since = now - TimeDelta::days(1);
    let rows = match only {
        None => {
            select_evictions!("and e.notified_at > $1 order by e.notified_at", since)
                .fetch_all(connection)
                .await?
        }
        Some(only) => {
            select_evictions!(
                "and e.notified_at > $1 and e.job_id = any($2) order by e.notified_at",
                since,
                only
            )
            .fetch_all(connection)
            .await?
        }
    };
    let mut of_job: HashMap<JobId, Vec<DateTime<Utc>>> = HashMap::new();
    for row in rows {
        of_job.entry(JobId(row.job_id)).or_default().push(row.notified_at);
    }
    Ok(of_job)
}

/// The hashes of all explanations: another server may have written them.
pub(crate) async fn load_reason_hashes(
    connection: &mut PgConnection,
) -> Result<HashMap<JobId, i64>, StoreError> {
    let rows = sqlx::query!(
        r#"select id, reason_hash as "reason_hash!" from jobs
           where state in ('queued', 'starting', 'running', 'leaving') and reason_hash is not null"#
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|row| (JobId(row.id), row.reason_hash)).collect())
}
