//! Properties of plain states, where counting gives the right answer: P4, P6 and P13.
//!
//! The plain profile has one pool, whole GPUs on one node, no trees and no limits.

use super::violation;
use crate::id::{GpuId, JobId, PoolId, TeamId};
use crate::job::GpuAsk;
use crate::node::NodeState;
use crate::schedule::check::{self, Violation};
use crate::schedule::plan::{DropReason, Plan};
use crate::schedule::snapshot::{GpuSlice, Job, Member, Placement, Snapshot};
use crate::units::MilliGpu;
use chrono::TimeDelta;
use std::collections::BTreeSet;

/// P4, first half: an owner of one GPU inside its guarantee gets a place or a nomination if somebody's
/// loan of one GPU may be recalled, and no owner that is served before holds the place of that loan.
pub(super) fn owner_waits(state: &Snapshot, plan: &Plan) -> Option<Violation> {
    if is_held(plan) {
        return None;
    }
    let recallable = recallable_unit_loans(state, plan);
    let owner = waiting_owners(state, plan).into_iter().next().filter(|_| !recallable.is_empty())?;
    Some(violation("owner_waits", format!("owner {owner} waits though {recallable:?} are on loan")))
}

/// P6: with one victim fewer, no legal plan places the evictor anywhere. Where a promise gives way as well,
/// the victim may have been needed for the right to that; and what is held for an owner looks free.
pub(super) fn larger_set_than_needed(state: &Snapshot, plan: &Plan) -> Option<Violation> {
    if is_held(plan) || plan.dropped.iter().any(|dropped| dropped.why == DropReason::NotNeeded) {
        return None;
    }
    let (victim, _) = smaller_plans(state, plan)
        .into_iter()
        .find(|(_, smaller)| check::violations(state, smaller).is_empty())?;
    Some(violation("larger_set_than_needed", format!("victim {victim} is not needed")))
}

/// P13: no idle GPU beside a waiting job of one GPU that has no promise. The plain profile has no limits:
/// what is idle and neither promised, held for an owner nor kept for a planned start is anybody's.
pub(super) fn gpu_idles(state: &Snapshot, plan: &Plan) -> Option<Violation> {
    let idle = idle_gpus(state, plan) - held_for_owners(plan);
    let promised: BTreeSet<JobId> = kept(state, plan).chain(new(plan)).map(|(job, _)| job).collect();
    let waits = plan.waiting.iter().filter_map(|(id, _)| job_of(state, *id));
    let waits = waits.filter(|job| !promised.contains(&job.id));
    let job = waits.filter(|job| job.shape.gpus == GpuAsk::Whole { gpus: 1 }).map(|job| job.id).next()?;
    (idle > 0).then(|| violation("gpu_idles", format!("{idle} GPUs idle while {job} waits")))
}

/// GPUs that stay free for owners whose victims are still protected, as the reasons say.
fn held_for_owners(plan: &Plan) -> i64 {
    let held = plan.waiting.iter().filter_map(|(_, why)| why.main.numbers.get("held"));
    held.sum()
}

/// Space is held for some owner, free or not.
fn is_held(plan: &Plan) -> bool {
    plan.waiting.iter().any(|(_, why)| why.main.numbers.contains_key("held"))
}

fn job_of(state: &Snapshot, id: JobId) -> Option<&Job> {
    state.jobs.iter().find(|job| job.id == id)
}

fn evicted(plan: &Plan) -> BTreeSet<JobId> {
    plan.reclaims.iter().flat_map(|reclaim| &reclaim.evictions).map(|eviction| eviction.job).collect()
}

fn stays(member: &&Member) -> bool {
    member.leaving.is_none()
}

/// Placements promised before this plan and kept by it.
fn kept<'a>(state: &'a Snapshot, plan: &'a Plan) -> impl Iterator<Item = (JobId, &'a Placement)> {
    let over = move |job: JobId| {
        plan.dropped.iter().any(|dropped| dropped.job == job)
            || plan.starts.iter().any(|start| start.job == job && !start.grow)
    };
    let kept = state.nominations.iter().filter(move |nomination| !over(nomination.job));
    kept.flat_map(|nomination| nomination.members.iter().map(move |placement| (nomination.job, placement)))
}

/// Placements that the plan starts or promises.
fn new(plan: &Plan) -> impl Iterator<Item = (JobId, &Placement)> {
    let starts = plan.starts.iter().flat_map(|start| start.members.iter().map(move |p| (start.job, p)));
    let promised = plan.reclaims.iter().filter_map(|reclaim| Some((reclaim.evictor?, &reclaim.nomination)));
    starts.chain(promised.flat_map(|(job, members)| members.iter().map(move |placement| (job, placement))))
}

/// GPUs that a team holds and keeps, is promised, or gets by this plan.
fn settled(state: &Snapshot, plan: &Plan, team: TeamId) -> MilliGpu {
    let gone = evicted(plan);
    let of_team = |id: JobId| job_of(state, id).is_some_and(|job| job.team == team);
    let staying = state.jobs.iter().filter(|job| job.team == team && !gone.contains(&job.id));
    let staying = staying.flat_map(|job| &job.members).filter(stays).flat_map(|member| &member.gpus);
    let got = kept(state, plan).chain(new(plan)).filter(|(job, _)| of_team(*job));
    staying.chain(got.flat_map(|(_, placement)| &placement.gpus)).map(|slice| slice.milli).sum()
}

fn guaranteed(state: &Snapshot, team: TeamId, pool: PoolId) -> MilliGpu {
    let quota = state.quotas.iter().find(|quota| quota.team == team && quota.pool == pool);
    quota.map_or(MilliGpu::ZERO, |quota| quota.guaranteed)
}

fn is_overcommitted(state: &Snapshot) -> bool {
    let gpus: usize = state.nodes.iter().map(|node| node.gpus.len()).sum();
    let sum: MilliGpu = state.quotas.iter().map(|quota| quota.guaranteed).sum();
    sum > MilliGpu::whole(u32::try_from(gpus).unwrap_or(u32::MAX))
}

/// Jobs of one GPU that wait without a nomination though they are inside their guarantee.
fn waiting_owners(state: &Snapshot, plan: &Plan) -> Vec<JobId> {
    let Some(pool) = state.pools.first().map(|pool| pool.id) else { return Vec::new() };
    let promised: BTreeSet<JobId> = kept(state, plan).chain(new(plan)).map(|(job, _)| job).collect();
    let waiting = plan.waiting.iter().filter_map(|(id, _)| job_of(state, *id));
    waiting
        .filter(|job| job.shape.gpus == GpuAsk::Whole { gpus: 1 } && !promised.contains(&job.id))
        .filter(|job| {
            let after = settled(state, plan, job.team) + MilliGpu::whole(1);
            !is_overcommitted(state) && after <= guaranteed(state, job.team, pool)
        })
        .map(|job| job.id)
        .collect()
}

/// Running jobs of one GPU on loan that nothing protects.
fn recallable_unit_loans(state: &Snapshot, plan: &Plan) -> Vec<JobId> {
    let Some(pool) = state.pools.first().map(|pool| pool.id) else { return Vec::new() };
    let gone = evicted(plan);
    let on_loan = |job: &&Job| {
        let jobs = state.jobs.iter().filter(|other| other.team == job.team && !gone.contains(&other.id));
        let members = jobs.flat_map(|other| &other.members).filter(stays);
        let held: MilliGpu = members.flat_map(|member| &member.gpus).map(|slice| slice.milli).sum();
        held > guaranteed(state, job.team, pool)
    };
    let unprotected = |job: &&Job| {
        let often = job.evictions_in_last_day >= state.policy.max_evictions_per_job_per_day;
        let least = TimeDelta::seconds(state.policy.rules(job.kind).min_runtime_secs);
        let until = if often { least * 2 } else { least };
        job.members.iter().all(|member| member.started_at + until <= state.now)
    };
    let units = state.jobs.iter().filter(|job| job.shape.gpus == GpuAsk::Whole { gpus: 1 });
    units
        .filter(|job| job.members.iter().filter(stays).count() > 0 && !gone.contains(&job.id))
        .filter(on_loan)
        .filter(unprotected)
        .map(|job| job.id)
        .collect()
}

fn gpus<'a>(placements: impl Iterator<Item = (JobId, &'a Placement)>) -> impl Iterator<Item = GpuId> {
    placements.flat_map(|(_, placement)| &placement.gpus).map(|slice| slice.gpu)
}

/// Kept for planned starts.
fn planned_gpus(plan: &Plan) -> impl Iterator<Item = GpuId> + '_ {
    let members = plan.planned.iter().flat_map(|planned| &planned.members);
    members.flat_map(|placement| &placement.gpus).map(|slice| slice.gpu)
}

fn idle_gpus(state: &Snapshot, plan: &Plan) -> i64 {
    let held = state.jobs.iter().flat_map(|job| &job.members).flat_map(|member| &member.gpus);
    let mut taken: BTreeSet<GpuId> = held.map(|slice| slice.gpu).collect();
    taken.extend(gpus(kept(state, plan).chain(new(plan))));
    taken.extend(planned_gpus(plan));
    let ready = state.nodes.iter().filter(|node| node.state == NodeState::Ready);
    let idle = ready.flat_map(|node| &node.gpus).filter(|gpu| !taken.contains(&gpu.id)).count();
    i64::try_from(idle).unwrap_or(i64::MAX)
}

/// The plan with one victim less and the evictor on any node where it then fits.
fn smaller_plans(state: &Snapshot, plan: &Plan) -> Vec<(JobId, Plan)> {
    let mut found = Vec::new();
    // Several reclaims in one plan depend on each other; one alone can be judged by itself.
    let [reclaim] = plan.reclaims.as_slice() else { return found };
    let Some(evictor) = reclaim.evictor.and_then(|id| job_of(state, id)) else { return found };
    for index in 0..reclaim.evictions.len() {
        let mut smaller = plan.clone();
        let victim = smaller.reclaims[0].evictions.remove(index).job;
        for nomination in places(state, &smaller, evictor) {
            let mut candidate = smaller.clone();
            candidate.reclaims[0].nomination = nomination;
            found.push((victim, candidate));
        }
    }
    found
}

/// Whole GPUs on each node that are free once the plan's victims and all who leave have left.
fn places(state: &Snapshot, plan: &Plan, evictor: &Job) -> Vec<Vec<Placement>> {
    let gone = evicted(plan);
    // Nobody has to wait for who should have left long ago.
    let timeout = state.policy.nomination_timeout();
    let there = |member: &&Member| {
        member.leaving.as_ref().is_none_or(|leaving| leaving.leave_by + timeout <= state.now)
    };
    let staying = state.jobs.iter().filter(|job| !gone.contains(&job.id));
    let staying = staying.flat_map(|job| &job.members).filter(there).flat_map(|member| &member.gpus);
    let mut taken: BTreeSet<GpuId> = staying.map(|slice| slice.gpu).collect();
    let starts = new(plan).filter(|(job, _)| *job != evictor.id);
    taken.extend(gpus(kept(state, plan).chain(starts)));
    // Nobody takes, or evicts for, what is kept for planned starts.
    taken.extend(planned_gpus(plan));
    let asks = evictor.shape.gpus.devices() as usize;
    let on_node = |node: &crate::schedule::snapshot::Node| {
        let free = node.gpus.iter().filter(|gpu| !taken.contains(&gpu.id)).take(asks);
        let gpus: Vec<GpuSlice> =
            free.map(|gpu| GpuSlice { gpu: gpu.id, milli: MilliGpu::whole(1), memory: gpu.memory }).collect();
        (gpus.len() == asks).then(|| vec![Placement { index: 0, node: node.id, gpus }])
    };
    state.nodes.iter().filter_map(on_node).collect()
}
