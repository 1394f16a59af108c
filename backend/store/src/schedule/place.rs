//! Starts: runs, members and their GPUs, claimed by guarded updates.
//!
//! A GPU or node that has less free than the plan believes makes the whole plan stale; nothing is placed elsewhere
//! instead.

use super::apply::{Applier, expect};
use crate::error::StoreError;
use crate::ledger;
use crate::write_tx::NewEvent;
use reeve_core::id::{NodeId, RunId};
use reeve_core::schedule::plan::Start;
use reeve_core::schedule::snapshot::Placement;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use uuid::Uuid;

/// A start with its run, and the number its first member gets.
struct Placed<'a> {
    start: &'a Start,
    run: Uuid,
    first_member: Option<i32>,
}

impl Placed<'_> {
    /// A new run's members keep the planner's ranks; a member that joins a running gang gets a rank that no member of
    /// the run ever had, because reports are told apart by it.
    fn rank(&self, at: usize, placement: &Placement) -> i32 {
        let at = i32::try_from(at).unwrap_or(i32::MAX);
        self.first_member.map_or(i32::try_from(placement.index).unwrap_or(i32::MAX), |first| first + at)
    }
}

/// Places every start; answers how many jobs started and how many grew.
pub(super) async fn place(applier: &mut Applier<'_>, starts: &[Start]) -> Result<(usize, usize), StoreError> {
    if starts.is_empty() {
        return Ok((0, 0));
    }
    let fresh: Vec<&Start> = starts.iter().filter(|start| !start.grow).collect();
    let growing: Vec<&Start> = starts.iter().filter(|start| start.grow).collect();
    let mut placed = begin_runs(applier, &fresh).await?;
    placed.extend(find_runs(applier, &growing).await?);
    insert_members(applier, &placed).await?;
    claim_gpus(applier, &placed).await?;
    claim_nodes(applier, &placed).await?;
    let runs: Vec<Uuid> = placed.iter().map(|placed| placed.run).collect();
    ledger::settle(applier.connection, &runs, applier.now).await?;
    finish_nominations(applier, &fresh).await?;
    for placed in &placed {
        tell(applier, placed);
        applier.nodes.extend(placed.start.members.iter().map(|member| member.node));
    }
    Ok((fresh.len(), growing.len()))
}

async fn begin_runs<'a>(
    applier: &mut Applier<'_>,
    starts: &[&'a Start],
) -> Result<Vec<Placed<'a>>, StoreError> {
    if starts.is_empty() {
        return Ok(Vec::new());
    }
    let placed: Vec<Placed<'a>> = starts
        .iter()
        .map(|&start| Placed { start, run: RunId::mint(applier.now).0, first_member: None })
        .collect();
    let jobs: Vec<Uuid> = starts.iter().map(|start| start.job.0).collect();
    let runs: Vec<Uuid> = placed.iter().map(|placed| placed.run).collect();
    let pools: Vec<Option<Uuid>> = starts.iter().map(|start| pool_of(applier, start)).collect();
    let touched = sqlx::query!(
        "update jobs set state = 'starting', run_number = run_number + 1, reason_code = null, reason = null,
                reason_at = null, reason_hash = null, version = version + 1, updated_at = $2
         where id = any($1) and state = 'queued' and not held",
        &jobs,
        applier.now
    )
    .execute(&mut *applier.connection)
    .await?;
    expect(touched.rows_affected(), starts.len())?;
    sqlx::query!(
        "insert into runs (id, job_id, number, state, resume, pool_id, placed_at)
         select n.run, j.id, j.run_number, 'starting',
                exists (select from runs r where r.job_id = j.id and r.state in ('evicted', 'lost')), n.pool, $4
         from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as n(run, job, pool) join jobs j on j.id = n.job",
        &runs,
        &jobs,
        &pools as &[Option<Uuid>],
        applier.now
    )
    .execute(&mut *applier.connection)
    .await?;
    Ok(placed)
}

/// The pool that the start names, or for a job without GPUs that of its first node.
fn pool_of(applier: &Applier<'_>, start: &Start) -> Option<Uuid> {
    start.pool.map(|pool| pool.0).or_else(|| {
        let first = start.members.first()?.node;
        applier.snapshot.nodes.iter().find(|node| node.id == first).map(|node| node.pool.0)
    })
}

async fn find_runs<'a>(
    applier: &mut Applier<'_>,
    starts: &[&'a Start],
) -> Result<Vec<Placed<'a>>, StoreError> {
    if starts.is_empty() {
        return Ok(Vec::new());
    }
    let jobs: Vec<Uuid> = starts.iter().map(|start| start.job.0).collect();
    let rows = sqlx::query!(
        r#"with live as (
             update jobs set version = version + 1, updated_at = $2
             where id = any($1) and state in ('starting', 'running') returning id
           )
           select r.id, r.job_id, (select max(m.member) + 1 from members m where m.run_id = r.id) as "first!"
           from runs r join live on live.id = r.job_id where r.ended_at is null"#,
        &jobs,
        applier.now
    )
    .fetch_all(&mut *applier.connection)
    .await?;
    expect(rows.len() as u64, starts.len())?;
    let runs: HashMap<Uuid, (Uuid, i32)> =
        rows.into_iter().map(|row| (row.job_id, (row.id, row.first))).collect();
    starts
        .iter()
        .map(|&start| {
            let &(run, first) = runs.get(&start.job.0).ok_or(StoreError::Conflict)?;
            Ok(Placed { start, run, first_member: Some(first) })
        })
        .collect()
}

async fn insert_members(applier: &mut Applier<'_>, placed: &[Placed<'_>]) -> Result<(), StoreError> {
    let (mut runs, mut ranks, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut gpu_runs, mut gpu_ranks, mut gpus) = (Vec::new(), Vec::new(), Vec::new());
    let (mut millis, mut memories) = (Vec::new(), Vec::new());
    for placed in placed {
        for (at, member) in placed.start.members.iter().enumerate() {
            let rank = placed.rank(at, member);
            runs.push(placed.run);
            ranks.push(rank);
            nodes.push(member.node.0);
            for slice in &member.gpus {
                gpu_runs.push(placed.run);
                gpu_ranks.push(rank);
                gpus.push(slice.gpu.0);
                millis.push(slice.milli.0);
                memories.push(slice.memory.0);
            }
        }
    }
    sqlx::query!(
        "insert into members (run_id, member, job_id, run_number, node_id, state, cpu_milli, memory_mib, placed_at)
         select n.run, n.member, j.id, r.number, n.node, 'assigned', j.cpu_milli, j.memory_mib, $4
         from unnest($1::uuid[], $2::integer[], $3::uuid[]) as n(run, member, node)
         join runs r on r.id = n.run join jobs j on j.id = r.job_id",
        &runs,
        &ranks,
        &nodes,
        applier.now
    )
    .execute(&mut *applier.connection)
    .await?;
    sqlx::query!(
        "insert into member_gpus (run_id, member, gpu_id, milli, memory_mib)
         select * from unnest($1::uuid[], $2::integer[], $3::uuid[], $4::bigint[], $5::bigint[])",
        &gpu_runs,
        &gpu_ranks,
        &gpus,
        &millis,
        &memories
    )
    .execute(&mut *applier.connection)
    .await?;
    Ok(())
}

async fn claim_gpus(applier: &mut Applier<'_>, placed: &[Placed<'_>]) -> Result<(), StoreError> {
    let mut wanted: BTreeMap<Uuid, (i64, i64)> = BTreeMap::new();
    for slice in placed.iter().flat_map(|placed| &placed.start.members).flat_map(|member| &member.gpus) {
        let entry = wanted.entry(slice.gpu.0).or_default();
        entry.0 += slice.milli.0;
        entry.1 += slice.memory.0;
    }
    let gpus: Vec<Uuid> = wanted.keys().copied().collect();
    let millis: Vec<i64> = wanted.values().map(|(milli, _)| *milli).collect();
    let memories: Vec<i64> = wanted.values().map(|(_, memory)| *memory).collect();
    let touched = sqlx::query!(
        "update gpus g set free_milli = g.free_milli - w.milli, free_memory_mib = g.free_memory_mib - w.memory
         from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as w(gpu, milli, memory)
         where g.id = w.gpu and g.health = 'healthy' and g.free_milli >= w.milli and g.free_memory_mib >= w.memory",
        &gpus,
        &millis,
        &memories
    )
    .execute(&mut *applier.connection)
    .await?;
    expect(touched.rows_affected(), gpus.len())
}

async fn claim_nodes(applier: &mut Applier<'_>, placed: &[Placed<'_>]) -> Result<(), StoreError> {
    let shapes: HashMap<_, _> = applier.snapshot.jobs.iter().map(|job| (job.id, job.shape)).collect();
    let mut wanted: BTreeMap<NodeId, (i64, i64)> = BTreeMap::new();
    for placed in placed {
        let shape = shapes.get(&placed.start.job).ok_or(StoreError::Conflict)?;
        for member in &placed.start.members {
            let entry = wanted.entry(member.node).or_default();
            entry.0 += shape.cpu.0;
            entry.1 += shape.memory.0;
        }
    }
    let nodes: Vec<Uuid> = wanted.keys().map(|node| node.0).collect();
    let cpus: Vec<i64> = wanted.values().map(|(cpu, _)| *cpu).collect();
    let memories: Vec<i64> = wanted.values().map(|(_, memory)| *memory).collect();
    let touched = sqlx::query!(
        "update nodes n set free_cpu_milli = n.free_cpu_milli - w.cpu, free_memory_mib = n.free_memory_mib - w.memory
         from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as w(node, cpu, memory)
         where n.id = w.node and n.state = 'ready' and n.free_cpu_milli >= w.cpu and n.free_memory_mib >= w.memory",
        &nodes,
        &cpus,
        &memories
    )
    .execute(&mut *applier.connection)
    .await?;
    expect(touched.rows_affected(), nodes.len())
}

async fn finish_nominations(applier: &mut Applier<'_>, starts: &[&Start]) -> Result<(), StoreError> {
    let jobs: Vec<Uuid> = starts.iter().map(|start| start.job.0).collect();
    let done = sqlx::query!(
        "update reclaims set state = 'done', ended_at = $2 where evictor_job_id = any($1) and state = 'waiting'
         returning id, evictor_team_id",
        &jobs,
        applier.now
    )
    .fetch_all(&mut *applier.connection)
    .await?;
    for row in done {
        let event = NewEvent::new("reclaim.done", "reclaim", row.id)
            .team(row.evictor_team_id.map(Into::into))
            .after(json!({"state": "done"}));
        applier.events.push(event);
    }
    Ok(())
}

fn tell(applier: &mut Applier<'_>, placed: &Placed<'_>) {
    let start = placed.start;
    let team = applier.snapshot.jobs.iter().find(|job| job.id == start.job).map(|job| job.team);
    let members: Vec<_> = start
        .members
        .iter()
        .enumerate()
        .map(|(at, member)| {
            let gpus: Vec<_> = member.gpus.iter().map(|slice| slice.gpu).collect();
            json!({"member": placed.rank(at, member), "node_id": member.node, "gpu_ids": gpus})
        })
        .collect();
    let action = if start.grow { "job.grown" } else { "job.placed" };
    let event = NewEvent::new(action, "job", start.job)
        .team(team)
        .after(json!({"state": "starting", "pool_id": start.pool, "run_id": placed.run, "members": members}));
    applier.events.push(event);
}
