//! What may happen in a walk.

use super::{Profile, SplitMix, Walk};
use crate::id::{JobId, UserId};
use crate::job::{CheckpointMode, GpuAsk, Shape};
use crate::kind::Kind;
use crate::node::NodeState;
use crate::priority::PriorityClass;
use crate::queue::QueueState;
use crate::scenario::cluster::End;
use crate::schedule::snapshot::{Job, Queue};
use crate::units::{Mib, MilliCpu, MilliGpu};
use chrono::TimeDelta;
use std::collections::BTreeMap;
use uuid::Uuid;

/// A cluster with more waiting than this only gets slower, not more interesting.
const MAX_JOBS: usize = 40;

/// Makes one thing happen and says what.
pub(super) fn happen(walk: &mut Walk) -> String {
    match walk.rng.below(20) {
        0..8 => submit(walk),
        8..11 => finish(walk),
        11..15 => vacate(walk),
        15 | 16 => pass_time(walk),
        17 if walk.profile == Profile::Mixed => change_node(walk),
        18 if walk.profile == Profile::Mixed => change_quota(walk),
        19 if walk.profile == Profile::Mixed => change_queue(walk),
        _ => cancel(walk),
    }
}

fn submit(walk: &mut Walk) -> String {
    if walk.cluster.snapshot.jobs.len() >= MAX_JOBS {
        return finish(walk);
    }
    let Some(queue) = walk.rng.pick(&walk.cluster.snapshot.queues).cloned() else { return "nothing".into() };
    let number = walk.submitted;
    walk.submitted += 1;
    let id = JobId(walk.cluster.mint());
    let mut job = plain_job(&mut walk.rng, id, &queue, format!("j{number}"));
    job.submitted_at = walk.cluster.snapshot.now;
    if walk.profile == Profile::Mixed {
        make_wild(&mut walk.rng, &mut job, &walk.cluster.snapshot.pools);
    }
    let text = format!(
        "submit {} of team {}: {:?} x {}..{}, {}, priority {}",
        job.name, job.team, job.shape.gpus, job.min_replicas, job.max_replicas, job.kind, job.priority.0
    );
    walk.cluster.snapshot.jobs.push(job);
    text
}

fn plain_job(rng: &mut SplitMix, id: JobId, queue: &Queue, name: String) -> Job {
    let classes = [PriorityClass::Low, PriorityClass::Low, PriorityClass::Normal, PriorityClass::High];
    let gpus = [1, 1, 1, 2, 2, 3, 4][rng.below(7) as usize];
    Job {
        id,
        name,
        team: queue.team,
        queue: queue.id,
        user: UserId(Uuid::from_u128(u128::from(rng.below(2)) + 1)),
        kind: Kind::Batch,
        priority: classes[rng.below(4) as usize].value(),
        submitted_at: chrono::DateTime::UNIX_EPOCH,
        shape: Shape { gpus: GpuAsk::Whole { gpus }, cpu: MilliCpu::ZERO, memory: Mib::ZERO },
        min_replicas: 1,
        max_replicas: 1,
        pools: Vec::new(),
        gpu_model: None,
        labels: BTreeMap::new(),
        require_topology: None,
        prefer_topology: None,
        rdma: false,
        time_limit_secs: None,
        preemptible: true,
        evict_others: true,
        requeue: true,
        checkpoint: [CheckpointMode::None, CheckpointMode::OnSignal, CheckpointMode::Periodic]
            [rng.below(3) as usize],
        last_checkpoint_at: None,
        run_number: 0,
        evictions_in_last_day: 0,
        held: false,
        members: Vec::new(),
    }
}

fn make_wild(rng: &mut SplitMix, job: &mut Job, pools: &[crate::schedule::snapshot::Pool]) {
    job.kind = Kind::ALL[rng.below(5) as usize];
    job.shape.cpu = MilliCpu(i64::from(rng.below(5)) * 2_000);
    job.shape.memory = Mib(i64::from(rng.below(5)) * 8_192);
    match rng.below(8) {
        0 => {
            let share = [250, 400, 500, 600, 1_000][rng.below(5) as usize];
            let memory = Mib(i64::from(rng.below(4)) * 20_480);
            job.shape.gpus = GpuAsk::Share { devices: 1 + rng.below(2), milli: MilliGpu(share), memory };
        }
        1 => job.shape.gpus = GpuAsk::None,
        _ => {}
    }
    if rng.one_in(4) {
        job.min_replicas = 1 + rng.below(3);
        job.max_replicas = job.min_replicas;
    }
    if job.kind == Kind::Inference || rng.one_in(6) {
        job.max_replicas = job.min_replicas + rng.below(4);
    }
    if rng.one_in(8) {
        job.labels.insert("half".into(), rng.below(2).to_string());
    }
    if rng.one_in(8) {
        job.require_topology = Some("rack".into());
    }
    if rng.one_in(8) {
        job.pools.extend(rng.pick(pools).map(|pool| pool.id));
    }
    job.rdma = rng.one_in(12);
    job.preemptible = !rng.one_in(10);
    job.evict_others = !rng.one_in(10);
    job.requeue = !rng.one_in(10);
    job.held = rng.one_in(20);
}

fn some_job(walk: &mut Walk, suits: impl Fn(&Job) -> bool) -> Option<JobId> {
    let jobs: Vec<JobId> =
        walk.cluster.snapshot.jobs.iter().filter(|job| suits(job)).map(|job| job.id).collect();
    walk.rng.pick(&jobs).copied()
}

fn finish(walk: &mut Walk) -> String {
    let Some(job) = some_job(walk, |job| !job.is_pending()) else { return "nothing".into() };
    let name = walk.name(job);
    walk.cluster.end(job, End::Succeeded);
    format!("finish {name}")
}

fn cancel(walk: &mut Walk) -> String {
    let Some(job) = some_job(walk, |_| true) else { return "nothing".into() };
    let name = walk.name(job);
    walk.cluster.end(job, End::Cancelled);
    format!("cancel {name}")
}

fn vacate(walk: &mut Walk) -> String {
    let leaving = |job: &Job| job.members.iter().any(|member| member.leaving.is_some());
    let Some(job) = some_job(walk, leaving) else { return "nothing".into() };
    let name = walk.name(job);
    walk.cluster.vacate(job);
    format!("vacate {name}")
}

fn pass_time(walk: &mut Walk) -> String {
    let secs = [1, 30, 120, 600, 1_800, 7_200][walk.rng.below(6) as usize];
    let now = walk.cluster.snapshot.now + TimeDelta::seconds(secs);
    walk.cluster.advance_to(now);
    format!("wait {secs} s")
}

fn change_node(walk: &mut Walk) -> String {
    let nodes: Vec<_> = walk.cluster.snapshot.nodes.iter().map(|node| (node.id, node.name.clone())).collect();
    let Some((id, name)) = walk.rng.pick(&nodes).cloned() else { return "nothing".into() };
    let states =
        [NodeState::Ready, NodeState::Ready, NodeState::Cordoned, NodeState::Draining, NodeState::Lost];
    let state = states[walk.rng.below(5) as usize];
    walk.cluster.set_node(id, state);
    format!("node {name} is {state}")
}

fn change_quota(walk: &mut Walk) -> String {
    let count = u32::try_from(walk.cluster.snapshot.quotas.len()).unwrap_or(0);
    let index = walk.rng.below(count) as usize;
    let guaranteed = MilliGpu::whole(walk.rng.below(7));
    let drain = walk.rng.one_in(3);
    let Some(quota) = walk.cluster.snapshot.quotas.get_mut(index) else { return "nothing".into() };
    quota.guaranteed = guaranteed;
    quota.drain = drain;
    format!("team {} is guaranteed {} (drain: {drain})", quota.team, guaranteed.0)
}

fn change_queue(walk: &mut Walk) -> String {
    let count = u32::try_from(walk.cluster.snapshot.queues.len()).unwrap_or(0);
    let index = walk.rng.below(count) as usize;
    let state = [QueueState::Open, QueueState::Open, QueueState::Held][walk.rng.below(3) as usize];
    let Some(queue) = walk.cluster.snapshot.queues.get_mut(index) else { return "nothing".into() };
    queue.state = state;
    format!("queue of team {} is {state}", queue.team)
}
