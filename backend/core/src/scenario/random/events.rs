//! What may happen in a walk.
//!
//! Everything that the product lets people, agents and hardware do, one at a time. Nothing here is
//! refused for being foolish.

use super::{Profile, Walk, jobs, setup};
use crate::id::{JobId, TeamId};
use crate::job::NvLink;
use crate::node::NodeState;
use crate::queue::{QueueOrder, QueueState};
use crate::scenario::cluster::End;
use crate::schedule::snapshot::{Job, Leaving};
use crate::units::MilliGpu;
use chrono::TimeDelta;

/// A cluster with more waiting than this only gets slower, not more interesting.
const MAX_JOBS: usize = 40;

/// Makes one thing happen and says what.
pub(super) fn happen(walk: &mut Walk) -> String {
    let wild = walk.profile == Profile::Mixed;
    match walk.rng.below(if wild { 40 } else { 34 }) {
        0..14 => submit(walk),
        14..19 => finish(walk),
        19..26 => vacate(walk),
        26..30 => pass_time(walk),
        30 => fail(walk),
        31 => ask_to_end(walk),
        32 => save(walk),
        33 => cancel(walk),
        34 | 35 => change_node(walk),
        36 => change_quota(walk),
        37 => change_queue(walk),
        38 => change_job(walk),
        _ => change_rules(walk),
    }
}

fn submit(walk: &mut Walk) -> String {
    if walk.cluster.snapshot.jobs.len() >= MAX_JOBS {
        return finish(walk);
    }
    let Some(queue) = walk.rng.pick(&walk.cluster.snapshot.queues).cloned() else { return "nothing".into() };
    let id = JobId(walk.cluster.mint());
    let mut job = jobs::plain(&mut walk.rng, id, &queue, format!("j{}", walk.step));
    job.submitted_at = walk.cluster.snapshot.now;
    if walk.profile == Profile::Mixed {
        jobs::make_wild(&mut walk.rng, &mut job, &walk.cluster.snapshot.pools);
    }
    let text = format!("submit {}", description(walk, &job));
    walk.cluster.snapshot.jobs.push(job);
    text
}

fn description(walk: &Walk, job: &Job) -> String {
    let mut text = format!(
        "{} of {}: {:?} x {}..{}, {}, priority {}",
        job.name,
        team_name(walk, job.team),
        job.shape.gpus,
        job.min_replicas,
        job.max_replicas,
        job.kind,
        job.priority.0
    );
    let marks = [
        (!job.preemptible, "not preemptible"),
        (!job.evict_others, "evicts nobody"),
        (!job.requeue, "not requeued"),
        (job.held, "held"),
        (job.rdma, "rdma"),
        (job.nvlink == NvLink::Required, "requires nvlink"),
        (!job.labels.is_empty(), "a label"),
        (!job.pools.is_empty(), "its own pools"),
        (job.gpu_model.is_some(), "a model"),
        (job.require_topology.is_some(), "requires topology"),
        (job.prefer_topology.is_some(), "prefers topology"),
    ];
    for (_, mark) in marks.iter().filter(|(is, _)| *is) {
        text.push_str(", ");
        text.push_str(mark);
    }
    text
}

fn team_name(walk: &Walk, team: TeamId) -> String {
    walk.cluster.snapshot.teams.iter().find(|found| found.id == team).map_or("?".into(), |t| t.slug.clone())
}

fn some_job(walk: &mut Walk, suits: impl Fn(&Job) -> bool) -> Option<JobId> {
    let jobs: Vec<JobId> =
        walk.cluster.snapshot.jobs.iter().filter(|job| suits(job)).map(|job| job.id).collect();
    walk.rng.pick(&jobs).copied()
}

fn end(walk: &mut Walk, job: Option<JobId>, end: End, word: &str) -> String {
    let Some(job) = job else { return "nothing".into() };
    let name = walk.name(job);
    walk.cluster.end(job, end);
    format!("{word} {name}")
}

fn finish(walk: &mut Walk) -> String {
    let job = some_job(walk, |job| !job.is_pending());
    end(walk, job, End::Succeeded, "finish")
}

fn cancel(walk: &mut Walk) -> String {
    let job = some_job(walk, |_| true);
    end(walk, job, End::Cancelled, "cancel")
}

/// A failed run of a job that tries again: it stands in line with its age.
fn fail(walk: &mut Walk) -> String {
    let Some(id) = some_job(walk, |job| !job.is_pending()) else { return "nothing".into() };
    let again = !walk.rng.one_in(3);
    if !again {
        return end(walk, Some(id), End::Failed, "fail");
    }
    let name = walk.name(id);
    if let Some(job) = walk.cluster.job_mut(id) {
        job.members.clear();
    }
    format!("fail {name}, which tries again")
}

/// Its user cancels a running job: it leaves, and holds its GPUs until that is confirmed.
fn ask_to_end(walk: &mut Walk) -> String {
    let runs = |job: &Job| job.members.iter().any(|member| member.leaving.is_none());
    let Some(id) = some_job(walk, runs) else { return "nothing".into() };
    let name = walk.name(id);
    let now = walk.cluster.snapshot.now;
    if let Some(job) = walk.cluster.job_mut(id) {
        let leave_by = now + TimeDelta::seconds(60);
        for member in job.members.iter_mut().filter(|member| member.leaving.is_none()) {
            member.leaving = Some(Leaving { leave_by, cause: None, evictor: None });
        }
    }
    format!("ask {name} to end")
}

fn save(walk: &mut Walk) -> String {
    let Some(job) = some_job(walk, |job| !job.is_pending()) else { return "nothing".into() };
    walk.cluster.save_checkpoint(job);
    format!("save {}", walk.name(job))
}

fn vacate(walk: &mut Walk) -> String {
    let leaving = |job: &Job| job.members.iter().any(|member| member.leaving.is_some());
    let Some(job) = some_job(walk, leaving) else { return "nothing".into() };
    let name = walk.name(job);
    walk.cluster.vacate(job);
    format!("vacate {name}")
}

fn pass_time(walk: &mut Walk) -> String {
    let secs = if walk.profile == Profile::Mixed && walk.rng.one_in(8) {
        -[1, 30, 600][walk.rng.below(3) as usize]
    } else {
        [1, 30, 120, 600, 1_800, 7_200][walk.rng.below(6) as usize]
    };
    let now = walk.cluster.snapshot.now + TimeDelta::seconds(secs);
    walk.cluster.advance_to(now);
    format!("wait {secs} s")
}

fn change_node(walk: &mut Walk) -> String {
    let nodes: Vec<_> = walk.cluster.snapshot.nodes.iter().map(|node| (node.id, node.name.clone())).collect();
    let Some((id, name)) = walk.rng.pick(&nodes).cloned() else { return "nothing".into() };
    if walk.rng.one_in(5) {
        let healthy = !walk.rng.one_in(2);
        let draw = walk.rng.draw() as usize;
        for node in walk.cluster.snapshot.nodes.iter_mut().filter(|node| node.id == id) {
            let count = node.gpus.len();
            node.gpus[draw % count].healthy = healthy;
        }
        return format!("a GPU of {name} is healthy: {healthy}");
    }
    use NodeState::{Cordoned, Draining, Lost, Ready, Removed};
    let state = [Ready, Ready, Ready, Cordoned, Draining, Lost, Removed][walk.rng.below(7) as usize];
    let empty = |job: &Job| job.members.iter().all(|member| member.node != id);
    if state == Removed && !walk.cluster.snapshot.jobs.iter().all(empty) {
        walk.cluster.set_node(id, Draining);
        return format!("node {name} is draining");
    }
    walk.cluster.set_node(id, state);
    format!("node {name} is {state}")
}

fn change_quota(walk: &mut Walk) -> String {
    let count = u32::try_from(walk.cluster.snapshot.quotas.len()).unwrap_or(0);
    let index = walk.rng.below(count) as usize;
    let (what, amount, drain) = (walk.rng.below(8), walk.rng.below(7), walk.rng.one_in(3));
    let none = walk.rng.one_in(3);
    let Some(quota) = walk.cluster.snapshot.quotas.get_mut(index) else { return "nothing".into() };
    let limit = (!none).then(|| MilliGpu::whole(amount));
    match what {
        0 => quota.borrow_limit = limit,
        1 => quota.lend_limit = limit,
        2 => quota.weight = amount % 3,
        _ => {
            quota.guaranteed = MilliGpu::whole(amount);
            quota.drain = drain;
        }
    }
    let quota = quota.clone();
    format!(
        "{} is guaranteed {}, borrows {:?}, lends {:?}, weight {}, drain: {}",
        team_name(walk, quota.team),
        quota.guaranteed.0,
        quota.borrow_limit.map(|limit| limit.0),
        quota.lend_limit.map(|limit| limit.0),
        quota.weight,
        quota.drain
    )
}

fn change_queue(walk: &mut Walk) -> String {
    let count = u32::try_from(walk.cluster.snapshot.queues.len()).unwrap_or(0);
    let index = walk.rng.below(count) as usize;
    use QueueState::{Draining, Held, Open};
    let state = [Open, Open, Draining, Held][walk.rng.below(4) as usize];
    let (what, amount) = (walk.rng.below(6), 1 + walk.rng.below(4));
    let limited = walk.rng.one_in(2);
    let Some(queue) = walk.cluster.snapshot.queues.get_mut(index) else { return "nothing".into() };
    match what {
        0 => {
            let strict = queue.order == QueueOrder::StrictFifo;
            queue.order = if strict { QueueOrder::FifoWithBackfill } else { QueueOrder::StrictFifo };
        }
        1 => queue.max_running_jobs = limited.then_some(amount),
        2 => queue.max_running_gpus = limited.then(|| MilliGpu::whole(amount + 2)),
        _ => queue.state = state,
    }
    let queue = queue.clone();
    format!(
        "queue of {}: {}, {}, at most {:?} jobs, {:?} milli-GPU",
        team_name(walk, queue.team),
        queue.order,
        queue.state,
        queue.max_running_jobs,
        queue.max_running_gpus.map(|most| most.0)
    )
}

/// Scaled, held, released, escalated or fallen back.
fn change_job(walk: &mut Walk) -> String {
    let Some(id) = some_job(walk, |_| true) else { return "nothing".into() };
    let (what, more) = (walk.rng.below(4), walk.rng.below(4));
    let priority = jobs::priority(&mut walk.rng);
    let now = walk.cluster.snapshot.now;
    let Some(job) = walk.cluster.job_mut(id) else { return "nothing".into() };
    match what {
        0 => job.priority = priority,
        1 => job.held = !job.held,
        2 => job.max_replicas = job.min_replicas + more,
        _ => {
            job.min_replicas = if job.is_pending() { 1 + more } else { job.min_replicas.min(1 + more) };
            job.max_replicas = job.max_replicas.max(job.min_replicas);
        }
    }
    // A service that was scaled down lets members go.
    let most = job.max_replicas as usize;
    for member in job.members.iter_mut().filter(|member| member.leaving.is_none()).skip(most) {
        member.leaving = Some(Leaving { leave_by: now + TimeDelta::seconds(60), cause: None, evictor: None });
    }
    let job = job.clone();
    format!("now {}", description(walk, &job))
}

fn change_rules(walk: &mut Walk) -> String {
    match walk.rng.below(3) {
        0 => {
            walk.cluster.snapshot.policy = setup::policy(&mut walk.rng, walk.profile);
            "another policy".into()
        }
        1 => move_team(walk),
        _ => {
            let count = u32::try_from(walk.cluster.snapshot.quotas.len()).unwrap_or(0);
            let index = walk.rng.below(count) as usize;
            if index >= walk.cluster.snapshot.quotas.len() || !walk.rng.one_in(4) {
                return "nothing".into();
            }
            let quota = walk.cluster.snapshot.quotas.remove(index);
            format!("{} has no quota any more", team_name(walk, quota.team))
        }
    }
}

fn move_team(walk: &mut Walk) -> String {
    let teams = walk.cluster.snapshot.teams.clone();
    let Some(team) = walk.rng.pick(&teams).map(|team| team.id) else { return "nothing".into() };
    let under = |mut at: TeamId| {
        while at != team {
            match teams.iter().find(|found| found.id == at).and_then(|found| found.parent) {
                Some(parent) => at = parent,
                None => return false,
            }
        }
        true
    };
    let parents: Vec<Option<TeamId>> =
        teams.iter().map(|found| found.id).filter(|&id| !under(id)).map(Some).chain([None]).collect();
    let parent = walk.rng.pick(&parents).copied().flatten();
    for found in walk.cluster.snapshot.teams.iter_mut().filter(|found| found.id == team) {
        found.parent = parent;
    }
    let above = parent.map_or("nobody".into(), |parent| team_name(walk, parent));
    format!("{} is moved under {above}", team_name(walk, team))
}
