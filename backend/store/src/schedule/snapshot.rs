//! Loads everything that is true at one moment: a handful of set queries, none a job.
//!
//! Must run inside one REPEATABLE READ transaction. It refuses to judge: what is stored is shown, except that a node
//! with stray processes is shown as cordoned, because nothing may be placed there.

use super::calendar::{load_maintenance_windows, load_reservations};
use crate::error::StoreError;
use crate::escalations::cover::load_exceptions;
use crate::row::{count, optional_word, text_map, word};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::approval::apply_exceptions;
use reeve_core::id::{JobId, NodeId};
use reeve_core::job::{GpuAsk, Shape};
use reeve_core::node::NodeState;
use reeve_core::policy::Policy;
use reeve_core::priority::PriorityClass;
use reeve_core::schedule::snapshot::{
    Gpu, GpuSlice, Job, Leaving, Member, Node, Nomination, Pool, Queue, Quota, Snapshot, Team,
};
use reeve_core::units::{Mib, MilliCpu, MilliGpu};
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

/// A snapshot, and what applying a plan needs beside it.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub snapshot: Snapshot,
    /// Hash of each pending job's stored explanation.
    pub reason_hashes: HashMap<JobId, i64>,
}

/// Loads the world as of `now`.
pub(crate) async fn load(connection: &mut PgConnection, now: DateTime<Utc>) -> Result<Loaded, StoreError> {
    let mut members = load_members(connection).await?;
    let mut evicted = load_recent_evictions(connection, now).await?;
    let (mut jobs, reason_hashes) = load_jobs(connection).await?;
    for job in &mut jobs {
        job.members = members.remove(&job.id.0).unwrap_or_default();
        job.evictions_in_last_day = evicted.remove(&job.id.0).unwrap_or(0);
    }
    let mut snapshot = Snapshot {
        now,
        policy: load_policy(connection).await?,
        pools: load_pools(connection).await?,
        nodes: load_nodes(connection).await?,
        teams: load_teams(connection).await?,
        quotas: load_quotas(connection).await?,
        queues: load_queues(connection).await?,
        jobs,
        nominations: load_nominations(connection).await?,
        rebalance_evictions_last_hour: load_rebalances(connection, now).await?,
        reservations: load_reservations(connection, now).await?,
        maintenance_windows: load_maintenance_windows(connection, now).await?,
    };
    let exceptions = load_exceptions(connection, now).await?;
    apply_exceptions(&mut snapshot, &exceptions);
    Ok(Loaded { snapshot, reason_hashes })
}

async fn load_policy(connection: &mut PgConnection) -> Result<Policy, StoreError> {
    let document = sqlx::query_scalar!("select document from policies order by version desc limit 1")
        .fetch_optional(connection)
        .await?;
    Ok(document.map(serde_json::from_value).transpose()?.unwrap_or_default())
}

async fn load_pools(connection: &mut PgConnection) -> Result<Vec<Pool>, StoreError> {
    let rows = sqlx::query!("select id, slug from pools where state = 'active' order by id")
        .fetch_all(connection)
        .await?;
    Ok(rows.into_iter().map(|row| Pool { id: row.id.into(), slug: row.slug }).collect())
}

async fn load_nodes(connection: &mut PgConnection) -> Result<Vec<Node>, StoreError> {
    let mut gpus: HashMap<Uuid, Vec<Gpu>> = HashMap::new();
    let rows = sqlx::query!(
        "select g.id, g.node_id, g.index, g.model, g.memory_mib, g.health from gpus g
         join nodes n on n.id = g.node_id where n.state <> 'removed' order by g.node_id, g.index"
    )
    .fetch_all(&mut *connection)
    .await?;
    for row in rows {
        gpus.entry(row.node_id).or_default().push(Gpu {
            id: row.id.into(),
            index: count(row.index)?,
            model: row.model,
            memory: Mib(row.memory_mib),
            healthy: row.health == "healthy",
        });
    }
    let rows = sqlx::query!(
        r#"select n.id, n.name, n.pool_id, n.state, n.cpu_milli, n.memory_mib, n.labels, n.topology, n.nvlink, n.rdma,
                  n.datasets, coalesce(l.stray_members, 0) > 0 as "strays!"
           from nodes n left join node_leases l on l.node_id = n.id where n.state <> 'removed' order by n.id"#
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let state: NodeState = word(&row.state)?;
            let unswept = row.strays && state == NodeState::Ready;
            Ok(Node {
                id: row.id.into(),
                name: row.name,
                pool: row.pool_id.into(),
                state: if unswept { NodeState::Cordoned } else { state },
                cpu: MilliCpu(row.cpu_milli),
                memory: Mib(row.memory_mib),
                gpus: gpus.remove(&row.id).unwrap_or_default(),
                labels: text_map(row.labels)?,
                topology: text_map(row.topology)?,
                nvlink: serde_json::from_value(row.nvlink)?,
                rdma: row.rdma,
                datasets: row.datasets,
            })
        })
        .collect()
}

async fn load_teams(connection: &mut PgConnection) -> Result<Vec<Team>, StoreError> {
    // A deleted team may still have jobs that are leaving.
    let rows =
        sqlx::query!("select id, slug, parent_id from teams order by id").fetch_all(connection).await?;
    Ok(rows
        .into_iter()
        .map(|row| Team { id: row.id.into(), slug: row.slug, parent: row.parent_id.map(Into::into) })
        .collect())
}

async fn load_quotas(connection: &mut PgConnection) -> Result<Vec<Quota>, StoreError> {
    let rows = sqlx::query!(
        "select q.team_id, q.pool_id, q.guaranteed_gpus, q.borrow_limit_gpus, q.lend_limit_gpus, q.weight, q.drain
         from quotas q join teams t on t.id = q.team_id and t.state = 'active'
         join pools p on p.id = q.pool_id and p.state = 'active' order by q.team_id, q.pool_id"
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let gpus = |gpus: i32| count::<u32>(gpus).map(MilliGpu::whole);
            Ok(Quota {
                team: row.team_id.into(),
                pool: row.pool_id.into(),
                guaranteed: gpus(row.guaranteed_gpus)?,
                borrow_limit: row.borrow_limit_gpus.map(gpus).transpose()?,
                lend_limit: row.lend_limit_gpus.map(gpus).transpose()?,
                weight: count(row.weight)?,
                drain: row.drain,
            })
        })
        .collect()
}

async fn load_queues(connection: &mut PgConnection) -> Result<Vec<Queue>, StoreError> {
    let rows = sqlx::query!(
        r#"select id, slug, team_id, "order", state, max_running_jobs, max_running_jobs_per_user, max_running_gpus
           from queues order by id"#
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Queue {
                id: row.id.into(),
                slug: row.slug,
                team: row.team_id.into(),
                order: word(&row.order)?,
                state: word(&row.state)?,
                max_running_jobs: row.max_running_jobs.map(count).transpose()?,
                max_running_jobs_per_user: row.max_running_jobs_per_user.map(count).transpose()?,
                max_running_gpus: row
                    .max_running_gpus
                    .map(|gpus| count::<u32>(gpus).map(MilliGpu::whole))
                    .transpose()?,
            })
        })
        .collect()
}

async fn load_jobs(connection: &mut PgConnection) -> Result<(Vec<Job>, HashMap<JobId, i64>), StoreError> {
    let rows = sqlx::query!(
        "select id, name, team_id, queue_id, user_id, kind, priority_class, submitted_at, gpus, gpu_milli,
                gpu_memory_mib, cpu_milli, memory_mib, min_replicas, max_replicas, pool_ids, gpu_model, node_labels,
                require_topology, prefer_topology, rdma, time_limit_secs, preemptible, evict_others, requeue,
                checkpoint, last_checkpoint_at, run_number, held, reason_hash
         from jobs where state in ('queued', 'starting', 'running', 'leaving') order by id"
    )
    .fetch_all(connection)
    .await?;
    let hashes = rows.iter().filter_map(|row| Some((JobId(row.id), row.reason_hash?))).collect();
    let jobs = rows
        .into_iter()
        .map(|row| {
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
                rdma: row.rdma,
                time_limit_secs: row.time_limit_secs,
                preemptible: row.preemptible,
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
        })
        .collect::<Result<_, StoreError>>()?;
    Ok((jobs, hashes))
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

/// Members that hold something, by job.
async fn load_members(connection: &mut PgConnection) -> Result<HashMap<Uuid, Vec<Member>>, StoreError> {
    let mut slices: HashMap<(Uuid, i32), Vec<GpuSlice>> = HashMap::new();
    let rows = sqlx::query!(
        "select h.run_id, h.member, h.gpu_id, h.milli, h.memory_mib from members m
         join member_gpus h on h.run_id = m.run_id and h.member = m.member
         join gpus g on g.id = h.gpu_id
         where m.released_at is null order by h.run_id, h.member, g.index"
    )
    .fetch_all(&mut *connection)
    .await?;
    for row in rows {
        slices.entry((row.run_id, row.member)).or_default().push(GpuSlice {
            gpu: row.gpu_id.into(),
            milli: MilliGpu(row.milli),
            memory: Mib(row.memory_mib),
        });
    }
    let rows = sqlx::query!(
        r#"select m.run_id, m.member, m.job_id, m.node_id, m.placed_at, m.stop_order, m.stop_cause, m.leave_by,
                  c.evictor_job_id as "evictor_job_id?"
           from members m
           left join evictions e on e.job_id = m.job_id and e.run_number = m.run_number and e.outcome = 'leaving'
                and m.member = any(e.members)
           left join reclaims c on c.id = e.reclaim_id and c.state = 'waiting'
           where m.released_at is null order by m.job_id, m.member"#
    )
    .fetch_all(connection)
    .await?;
    let mut members: HashMap<Uuid, Vec<Member>> = HashMap::new();
    for row in rows {
        let leaving = row.stop_order.is_some().then(|| Leaving {
            leave_by: row.leave_by.unwrap_or(row.placed_at),
            // Causes that are no evictions (cancelled, a member failed, node lost) have no cause here.
            cause: optional_word(row.stop_cause.as_deref()).unwrap_or(None),
            evictor: row.evictor_job_id.map(Into::into),
        });
        let of_job = members.entry(row.job_id).or_default();
        let index = count(row.member)?;
        // A member may be part of two evictions; one line of it is enough.
        if of_job.last().is_none_or(|last| last.index != index) {
            of_job.push(Member {
                index,
                node: NodeId(row.node_id),
                gpus: slices.remove(&(row.run_id, row.member)).unwrap_or_default(),
                started_at: row.placed_at,
                leaving,
            });
        }
    }
    Ok(members)
}

async fn load_nominations(connection: &mut PgConnection) -> Result<Vec<Nomination>, StoreError> {
    let rows = sqlx::query!(
        r#"select id, evictor_job_id as "evictor_job_id!", nomination, created_at, expires_at
           from reclaims where state = 'waiting' and evictor_job_id is not null order by id"#
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Nomination {
                job: row.evictor_job_id.into(),
                reclaim: row.id.into(),
                members: serde_json::from_value(row.nomination)?,
                created_at: row.created_at,
                expires_at: row.expires_at,
            })
        })
        .collect()
}

async fn load_recent_evictions(
    connection: &mut PgConnection,
    now: DateTime<Utc>,
) -> Result<HashMap<Uuid, u32>, StoreError> {
    let rows = sqlx::query!(
        r#"select e.job_id, count(*) as "evictions!" from evictions e join jobs j on j.id = e.job_id
           where e.notified_at > $1 and not e.surplus_only
             and j.state in ('queued', 'starting', 'running', 'leaving')
           group by e.job_id"#,
        now - TimeDelta::days(1)
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok((row.job_id, count(row.evictions)?))).collect()
}

async fn load_rebalances(
    connection: &mut PgConnection,
    now: DateTime<Utc>,
) -> Result<Vec<DateTime<Utc>>, StoreError> {
    Ok(sqlx::query_scalar!(
        "select notified_at from evictions where cause = 'rebalance' and notified_at > $1 order by notified_at",
        now - TimeDelta::hours(1)
    )
    .fetch_all(connection)
    .await?)
}
