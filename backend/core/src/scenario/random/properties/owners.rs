//! P4 with protected victims: an owner inside its guarantee, for whom only a minimum run time stands in
//! the way, has its space within minimum run time, grace and two cycles, whatever small jobs arrive.

use super::super::{SplitMix, Walk, jobs};
use super::{Finding, cycle, violation};
use crate::id::JobId;
use crate::reason::{Explanation, ReasonCode};
use crate::schedule::plan::Plan;
use crate::schedule::snapshot::Snapshot;
use chrono::{DateTime, TimeDelta, Utc};

/// Between two cycles.
const CYCLE: TimeDelta = TimeDelta::seconds(60);

pub(super) fn wait_no_longer_than_they_must(
    walk: &Walk,
    planner: &impl Fn(&Snapshot) -> Plan,
) -> Result<(), Box<Finding>> {
    let owner = planner(walk.snapshot()).waiting.into_iter().find(|(_, why)| {
        why.main.code == ReasonCode::WaitingForEvictions
            && why.main.detail.as_deref() == Some("minimum_run_time")
            && why.main.numbers.contains_key("held")
    });
    let Some((owner, _)) = owner else { return Ok(()) };
    let last = deadline(walk.snapshot());
    let mut walk = walk.clone();
    walk.story.push(format!("-- only small jobs arrive; {} waits", walk.name(owner)));
    let mut rng = SplitMix::new(u64::from(walk.step));
    while walk.snapshot().now < last {
        let now = walk.snapshot().now + CYCLE;
        walk.cluster.advance_to(now);
        leave_when_due(&mut walk);
        submit_small(&mut walk, &mut rng, owner);
        walk.story.push(format!("-- {}", walk.snapshot().now.time()));
        let plan = cycle(&mut walk, planner)?;
        if plan.starts.iter().any(|start| start.job == owner) {
            return Ok(());
        }
        // Higher classes of its own team may use up the guarantee.
        let out_of_quota = |why: &Explanation| why.main.code == ReasonCode::NoQuota;
        if plan.waiting.iter().any(|(job, why)| *job == owner && out_of_quota(why)) {
            return Ok(());
        }
    }
    let state = walk.snapshot().clone();
    let detail = format!("{} has not started by {last}", walk.name(owner));
    Err(Finding::later(&walk, state, vec![violation("owner_waits_too_long", detail)]))
}

/// The longest protection that anybody has, the longest grace, and two cycles.
fn deadline(state: &Snapshot) -> DateTime<Utc> {
    let rules = state.jobs.iter().map(|job| state.policy.rules(job.kind));
    let (run, grace) = rules
        .fold((0, 0), |(run, grace), rules| (rules.min_runtime_secs.max(run), rules.grace_secs.max(grace)));
    state.now + TimeDelta::seconds(2 * run + grace) + CYCLE * 3
}

fn leave_when_due(walk: &mut Walk) {
    let now = walk.snapshot().now;
    let due = |job: &&crate::schedule::snapshot::Job| {
        job.members.iter().any(|member| member.leaving.as_ref().is_some_and(|l| l.leave_by <= now))
    };
    let jobs: Vec<JobId> = walk.snapshot().jobs.iter().filter(due).map(|job| job.id).collect();
    jobs.into_iter().for_each(|job| walk.cluster.vacate(job));
}

/// A small job of another team: it would fill any hole.
fn submit_small(walk: &mut Walk, rng: &mut SplitMix, owner: JobId) {
    let team = walk.cluster.job(owner).map(|job| job.team);
    let others: Vec<_> =
        walk.snapshot().queues.iter().filter(|queue| Some(queue.team) != team).cloned().collect();
    let Some(queue) = rng.pick(&others) else { return };
    let id = JobId(walk.cluster.mint());
    let mut job = jobs::plain(rng, id, queue, "filler".into());
    job.shape.gpus = crate::job::GpuAsk::Whole { gpus: 1 };
    job.priority = crate::priority::PriorityClass::Low.value();
    job.submitted_at = walk.snapshot().now;
    walk.cluster.snapshot.jobs.push(job);
}
