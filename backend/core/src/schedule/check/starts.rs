//! Who may start, and where: hard requirements of placement.

use super::Violation;
use super::index::Index;
use super::state::fits_ask;
use crate::id::{JobId, PoolId, QueueId, UserId};
use crate::job::NvLink;
use crate::node::NodeState;
use crate::queue::QueueState;
use crate::schedule::plan::{Plan, Start};
use crate::schedule::snapshot::{Job, Node, Placement};
use crate::units::MilliGpu;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn judge(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    let mut seen = BTreeSet::new();
    for start in &plan.starts {
        let job = index.jobs[&start.job];
        if !seen.insert(start.job) {
            found.push(Violation::new("started_twice", format!("job {}", start.job)));
        }
        if start.grow == job.is_pending() {
            let what = if start.grow { "grows but does not run" } else { "starts but is not pending" };
            found.push(Violation::new("start_of_wrong_state", format!("job {} {what}", job.id)));
        }
        // Held means: starts nothing. What runs already may grow.
        if !start.grow {
            may_start(index, job, found);
        }
        count_members(job, start, found);
        placements(index, job, &start.members, found);
        let pools: BTreeSet<Option<PoolId>> =
            start.members.iter().map(|placement| index.pool_of(placement.node)).collect();
        // A CPU-only start may name no pool.
        if start.pool.is_some() && pools.iter().any(|pool| *pool != start.pool) {
            found.push(Violation::new(
                "wrong_pool",
                format!("job {} starts outside the pool it names", job.id),
            ));
        }
    }
    for reclaim in &plan.reclaims {
        if let Some(job) = reclaim.evictor.and_then(|id| index.jobs.get(&id)) {
            may_start(index, job, found);
            placements(index, job, &reclaim.nomination, found);
        }
    }
    queue_limits(index, plan, found);
}

fn may_start(index: &Index<'_>, job: &Job, found: &mut Vec<Violation>) {
    if job.held {
        found.push(Violation::new("held_job_served", format!("job {}", job.id)));
    }
    if !index.window_is_open(job) {
        found.push(Violation::new("closed_window_served", format!("job {}", job.id)));
    }
    if index.queues.get(&job.queue).is_some_and(|queue| queue.state == QueueState::Held) {
        found.push(Violation::new("held_queue_served", format!("job {}", job.id)));
    }
}

fn count_members(job: &Job, start: &Start, found: &mut Vec<Violation>) {
    let count = start.members.len();
    let least = if start.grow { 1 } else { job.min_replicas as usize };
    if count < least || count > job.max_replicas as usize {
        let detail =
            format!("job {}: {count} members of {} … {}", job.id, job.min_replicas, job.max_replicas);
        found.push(Violation::new("start_not_whole", detail));
    }
}

/// Every member stands where its job may stand.
fn placements(index: &Index<'_>, job: &Job, members: &[Placement], found: &mut Vec<Violation>) {
    for placement in members {
        let node = index.nodes[&placement.node];
        if let Err(what) = fits_ask(index, placement.node, &placement.gpus, job.shape.gpus) {
            found.push(Violation::new("not_what_was_asked", format!("job {}: {what}", job.id)));
        }
        if let Some(what) = unfit(job, node) {
            found.push(Violation::new("wrong_node", format!("job {} on node {}: {what}", job.id, node.id)));
        }
        if job.nvlink == NvLink::Required && placement.gpus.len() > 1 && !is_linked(index, node, placement) {
            found.push(Violation::new("not_linked", format!("job {} on node {}", job.id, node.id)));
        }
        for slice in &placement.gpus {
            let (_, gpu) = index.gpus[&slice.gpu];
            if !gpu.healthy || job.gpu_model.as_ref().is_some_and(|model| *model != gpu.model) {
                found.push(Violation::new("wrong_gpu", format!("job {} on GPU {}", job.id, gpu.id)));
            }
        }
    }
    if let Some(level) = job.require_topology.as_deref().filter(|level| *level != "node") {
        let places: BTreeSet<Option<&String>> =
            members.iter().map(|placement| index.nodes[&placement.node].topology.get(level)).collect();
        if places.len() > 1 || places.contains(&None) {
            found.push(Violation::new("topology_broken", format!("job {} is not in one {level}", job.id)));
        }
    }
}

/// One NVLink domain of the node has them all.
fn is_linked(index: &Index<'_>, node: &Node, placement: &Placement) -> bool {
    let wanted: BTreeSet<u32> = placement.gpus.iter().map(|slice| index.gpus[&slice.gpu].1.index).collect();
    node.nvlink.iter().any(|domain| wanted.iter().all(|gpu| domain.contains(gpu)))
}

fn unfit(job: &Job, node: &Node) -> Option<&'static str> {
    if node.state != NodeState::Ready {
        return Some("the node takes nothing new");
    }
    if !job.pools.is_empty() && !job.pools.contains(&node.pool) {
        return Some("the job does not accept the pool");
    }
    if job.labels.iter().any(|(key, value)| node.labels.get(key) != Some(value)) {
        return Some("labels differ");
    }
    (job.rdma && !node.rdma).then_some("no RDMA")
}

/// Limits of the queues in which the plan starts something; leaving jobs no longer count.
fn queue_limits(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    let touched: BTreeSet<QueueId> = plan.starts.iter().map(|start| index.jobs[&start.job].queue).collect();
    let evicted: BTreeSet<(JobId, u32)> = plan
        .reclaims
        .iter()
        .flat_map(|reclaim| &reclaim.evictions)
        .flat_map(|eviction| eviction.members.iter().map(|&member| (eviction.job, member)))
        .collect();
    // A job that grows is one already: a limit that was lowered under running jobs does not stop it.
    let begins: BTreeSet<QueueId> =
        plan.starts.iter().filter(|start| !start.grow).map(|start| index.jobs[&start.job].queue).collect();
    for queue in touched.iter().filter_map(|id| index.queues.get(id)) {
        let begins = begins.contains(&queue.id);
        let (mut jobs, mut gpus) = (0_u32, MilliGpu::ZERO);
        let mut users: BTreeMap<UserId, u32> = BTreeMap::new();
        for job in index.snapshot.jobs.iter().filter(|job| job.queue == queue.id) {
            let staying = job
                .members
                .iter()
                .filter(|member| member.leaving.is_none() && !evicted.contains(&(job.id, member.index)));
            let starting = plan.starts.iter().filter(|start| start.job == job.id);
            let mut members = staying.count();
            members += starting.map(|start| start.members.len()).sum::<usize>();
            if members > 0 {
                jobs += 1;
                *users.entry(job.user).or_default() += 1;
                gpus += job.shape.gpus.milli().times(u32::try_from(members).unwrap_or(u32::MAX));
            }
        }
        let over_jobs = begins && queue.max_running_jobs.is_some_and(|max| jobs > max);
        let over_user = begins
            && queue.max_running_jobs_per_user.is_some_and(|max| users.values().any(|&count| count > max));
        let over_gpus = queue.max_running_gpus.is_some_and(|max| gpus > max);
        if over_jobs || over_user || over_gpus {
            let detail = format!(
                "queue {}: {jobs} jobs of {:?}, {:?} a user, {} milli-GPU of {:?}",
                queue.id,
                queue.max_running_jobs,
                queue.max_running_jobs_per_user,
                gpus.0,
                queue.max_running_gpus
            );
            found.push(Violation::new("queue_limit_exceeded", detail));
        }
    }
}
