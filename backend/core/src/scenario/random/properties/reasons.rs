//! P10: take a job's main reason out of the state, and the job starts or waits for something else.
//!
//! How a reason is taken away is the meaning of its code and detail; a detail that nobody knows how to
//! take away is itself a finding.

use super::super::Walk;
use super::{Finding, violation};
use crate::id::{GpuId, JobId, NodeId, PoolId, QueueId, TeamId};
use crate::job::{GpuAsk, Shape};
use crate::node::NodeState;
use crate::queue::QueueState;
use crate::reason::{Obstacle, ReasonCode};
use crate::schedule::plan::Plan;
use crate::schedule::snapshot::{Gpu, Job, Node, Quota, Snapshot};
use crate::units::{Mib, MilliCpu, MilliGpu};
use chrono::TimeDelta;
use std::collections::BTreeSet;

pub(super) fn change(walk: &Walk, planner: &impl Fn(&Snapshot) -> Plan) -> Result<(), Box<Finding>> {
    let plan = planner(walk.snapshot());
    let index = (walk.step as usize / 4) % plan.waiting.len().max(1);
    let Some((job, why)) = plan.waiting.get(index) else { return Ok(()) };
    let mut without = walk.clone();
    if !take_away(&mut without, *job, &why.main) {
        let detail = format!("nobody knows how to take away {} ({:?})", why.main.code, why.main.detail);
        let state = walk.snapshot().clone();
        return Err(Finding::later(walk, state, vec![violation("unknown_reason", detail)]));
    }
    let next = planner(without.snapshot());
    let Some((_, still)) = next.waiting.iter().find(|(waiting, _)| waiting == job) else { return Ok(()) };
    // New victims, for this job or for others who leave it a place: it waits for somebody else now.
    let new_victims = next.reclaims.iter().any(|reclaim| !reclaim.evictions.is_empty());
    let waits_anew = why.main.code == ReasonCode::WaitingForEvictions && new_victims;
    let same = still.main.code == why.main.code && still.main.detail == why.main.detail;
    if !same || waits_anew {
        return Ok(());
    }
    let detail =
        format!("{} waits for {:?} and, without it, for {:?}", walk.name(*job), why.main, still.main);
    without.story.push("-- without the reason".into());
    let state = without.snapshot().clone();
    Err(Finding::later(&without, state, vec![violation("reason_remains", detail)]))
}

fn take_away(walk: &mut Walk, id: JobId, reason: &Obstacle) -> bool {
    let Some(job) = walk.cluster.job(id).cloned() else { return false };
    let detail = reason.detail.as_deref();
    match (reason.code, detail) {
        (ReasonCode::NeverFits, Some("topology" | "unknown_topology_level")) | (ReasonCode::Topology, _) => {
            set(walk, id, |job| job.require_topology = None);
        }
        (ReasonCode::Fragmented, Some("nodes_take_no_work")) => {
            for node in &mut walk.cluster.snapshot.nodes {
                node.state = NodeState::Ready;
                node.gpus.iter_mut().for_each(|gpu| gpu.healthy = true);
            }
        }
        (ReasonCode::NeverFits | ReasonCode::Fragmented, _) => add_room(walk, &job),
        (ReasonCode::QueueHeld, Some("job_held")) => set(walk, id, |job| job.held = false),
        (ReasonCode::QueueHeld, _) => open(walk, job.queue),
        (ReasonCode::OverCap | ReasonCode::NoQuota, _) => give_quota(walk, &job),
        (ReasonCode::WaitingForEvictions, _) => {
            walk.vacate_all();
            end_protections(walk);
        }
        (ReasonCode::BehindOthers, _) => leave_alone(walk, id),
        _ => return false,
    }
    true
}

fn set(walk: &mut Walk, id: JobId, what: impl FnOnce(&mut Job)) {
    if let Some(job) = walk.cluster.job_mut(id) {
        what(job);
    }
}

fn open(walk: &mut Walk, queue: QueueId) {
    for found in walk.cluster.snapshot.queues.iter_mut().filter(|found| found.id == queue) {
        found.state = QueueState::Open;
    }
}

fn accepted(state: &Snapshot, job: &Job) -> Vec<PoolId> {
    if job.pools.is_empty() { state.pools.iter().map(|pool| pool.id).collect() } else { job.pools.clone() }
}

/// An empty place for this gang and one for each that waits, in every pool that it accepts.
fn add_room(walk: &mut Walk, job: &Job) {
    let places = 1 + walk.snapshot().jobs.iter().filter(|job| job.is_pending()).count();
    for pool in accepted(walk.snapshot(), job) {
        for number in 0..places {
            add_node(walk, pool, job, &format!("room{number}"));
        }
    }
}

fn add_node(walk: &mut Walk, pool: PoolId, job: &Job, name: &str) {
    let members = job.min_replicas.max(1);
    // A job without GPUs may ask for a node of a GPU model.
    let devices = (job.shape.gpus.devices() * members).max(u32::from(job.gpu_model.is_some()));
    let model = job.gpu_model.clone();
    let known =
        walk.snapshot().nodes.iter().find(|node| node.pool == pool).and_then(|node| node.gpus.first());
    let model = model.or_else(|| known.map(|gpu| gpu.model.clone())).unwrap_or_default();
    let memory = match job.shape.gpus {
        GpuAsk::Share { memory, .. } => memory.max(Mib(81_920)),
        _ => Mib(81_920),
    };
    let id = NodeId(walk.cluster.mint());
    let gpus = (0..devices)
        .map(|index| Gpu {
            id: GpuId(walk.cluster.mint()),
            index,
            model: model.clone(),
            memory,
            healthy: true,
        })
        .collect();
    let topology = job.require_topology.iter().map(|level| (level.clone(), name.to_owned())).collect();
    walk.cluster.snapshot.nodes.push(Node {
        id,
        name: name.to_owned(),
        pool,
        state: NodeState::Ready,
        cpu: MilliCpu(job.shape.cpu.0 * i64::from(members)),
        memory: Mib(job.shape.memory.0 * i64::from(members)),
        gpus,
        labels: job.labels.clone(),
        topology,
        nvlink: vec![(0..devices).collect()],
        rdma: true,
        datasets: Vec::new(),
    });
}

/// Nothing limits its queue or the teams above it, and they are guaranteed as much as anybody could ask,
/// on GPUs that the pool has (but that may suit nobody).
fn give_quota(walk: &mut Walk, job: &Job) {
    for queue in walk.cluster.snapshot.queues.iter_mut().filter(|queue| queue.id == job.queue) {
        queue.max_running_jobs = None;
        queue.max_running_jobs_per_user = None;
        queue.max_running_gpus = None;
    }
    let all = |job: &Job| job.shape.gpus.milli().times(job.max_replicas.max(job.min_replicas));
    let asked: MilliGpu = walk.snapshot().jobs.iter().map(all).sum();
    let promised: MilliGpu = walk.snapshot().quotas.iter().map(|quota| quota.guaranteed).sum();
    let count = u32::try_from(asked.0 / 1_000 + 1).unwrap_or(u32::MAX);
    let promised = u32::try_from(promised.0 / 1_000 + 1).unwrap_or(u32::MAX);
    let more = count.saturating_add(promised);
    for pool in accepted(walk.snapshot(), job) {
        let mut annex = job.clone();
        annex.shape = Shape {
            gpus: GpuAsk::Whole { gpus: more.saturating_add(promised) },
            cpu: MilliCpu::ZERO,
            memory: Mib::ZERO,
        };
        annex.min_replicas = 1;
        add_node(walk, pool, &annex, "annex");
        for team in chain(walk.snapshot(), job.team) {
            raise(&mut walk.cluster.snapshot, team, pool, MilliGpu::whole(more));
        }
    }
}

fn chain(state: &Snapshot, team: TeamId) -> BTreeSet<TeamId> {
    let mut chain = BTreeSet::new();
    let mut next = Some(team);
    while let Some(id) = next.filter(|id| !chain.contains(id)) {
        chain.insert(id);
        next = state.teams.iter().find(|team| team.id == id).and_then(|team| team.parent);
    }
    chain
}

fn raise(state: &mut Snapshot, team: TeamId, pool: PoolId, by: MilliGpu) {
    if !state.quotas.iter().any(|quota| quota.team == team && quota.pool == pool) {
        state.quotas.push(Quota {
            team,
            pool,
            guaranteed: MilliGpu::ZERO,
            borrow_limit: None,
            lend_limit: None,
            weight: 1,
            drain: false,
        });
    }
    for quota in state.quotas.iter_mut().filter(|quota| quota.team == team && quota.pool == pool) {
        quota.guaranteed += by;
        quota.borrow_limit = None;
        quota.lend_limit = None;
        quota.drain = false;
    }
}

/// Everybody has run for long enough.
fn end_protections(walk: &mut Walk) {
    let long_ago = walk.snapshot().now - TimeDelta::days(2);
    for member in walk.cluster.snapshot.jobs.iter_mut().flat_map(|job| &mut job.members) {
        member.started_at = long_ago;
    }
}

/// Nobody else is there, and nothing is promised.
fn leave_alone(walk: &mut Walk, id: JobId) {
    walk.cluster.snapshot.nominations.clear();
    walk.cluster.snapshot.jobs.retain(|job| job.id == id);
}
