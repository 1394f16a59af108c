//! Nominations: space promised to a pending job from the decision until its start.
//!
//! An existing promise is kept as it is while it can be kept; it is not re-decided each cycle, so that
//! victims who leave one by one never let somebody else in. This module never extends a promise.

use super::draft::{self, Draft};
use super::fit::{self, Among, Budget};
use super::plan::{DropReason, DroppedNomination, Eviction, Reclaim};
use super::problem::Hold;
use super::rights::Evictor;
use super::snapshot::Nomination;
use super::space::Count;
use super::state::State;
use super::unit::Found;
use crate::eviction::EvictionCause;
use crate::id::JobId;
use crate::queue::QueueState;
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;

/// Steps of the search for an idle place that makes a promise needless.
const EARLY_STEPS: u64 = 50_000;

/// Takes the stored nominations over: those whose space is free start, those that can still be kept hold
/// their space, the others end.
pub(super) fn keep_promises(state: &mut State<'_, '_>, draft: &mut Draft) {
    let mut nominations: Vec<&Nomination> = state.problem.snapshot.nominations.iter().collect();
    nominations.sort_unstable_by_key(|nomination| (nomination.created_at, nomination.job));
    let mut kept: Vec<(usize, &Nomination)> = Vec::new();
    for nomination in nominations {
        match keep(state, nomination) {
            Ok(job) => kept.push((job, nomination)),
            Err(why) => draft.dropped.push(DroppedNomination { job: nomination.job, why }),
        }
    }
    for (job, nomination) in kept {
        let Some((pool, holds)) = state.lift(job) else { continue };
        // Elsewhere it may start once owners who wait have had their space held: see `start_early`.
        if has_left(state, job) && has_its_space(state, job) && is_startable(state, job, pool, &holds) {
            state.start(job, pool, holds);
            state.jobs[job].was_promised = true;
        } else if nomination.expires_at <= state.problem.now {
            draft.dropped.push(DroppedNomination { job: nomination.job, why: DropReason::TimedOut });
        } else {
            state.look_again(nomination.expires_at);
            state.nominate(job, pool, holds);
        }
    }
}

fn keep(state: &mut State<'_, '_>, nomination: &Nomination) -> Result<usize, DropReason> {
    let problem = state.problem;
    let job = problem.job(nomination.job).ok_or(DropReason::JobGone)?;
    let row = &problem.jobs[job];
    let waits = row.job.is_pending() || row.job.is_moving();
    if !waits || state.jobs[job].nominated.is_some() {
        return Err(DropReason::JobGone);
    }
    let held = row.queue.is_none_or(|queue| problem.queues[queue].state == QueueState::Held);
    if row.job.held || held || row.team.is_none() || problem.closed_until(job).is_some() {
        return Err(DropReason::NotNeeded);
    }
    let holds: Option<Vec<Hold>> =
        nomination.members.iter().map(|placement| problem.placed(placement, row.job.shape)).collect();
    let holds = holds.ok_or(DropReason::NoLongerFits)?;
    let pool = holds.first().map(|hold| problem.nodes[hold.node].pool).ok_or(DropReason::NoLongerFits)?;
    let expected = row.job.min_replicas.max(1) as usize;
    let nodes_take_work = holds.iter().all(|hold| problem.classes[row.class].node_ok[hold.node]);
    if holds.len() != expected || !nodes_take_work || state.quota_later(job, pool, row.base_milli).is_err() {
        return Err(DropReason::NoLongerFits);
    }
    if row.pool.is_some_and(|runs_in| runs_in != pool) {
        return Err(DropReason::NoLongerFits);
    }
    // What it still holds itself counts already.
    let new = row.base_inside_only && row.job.is_pending();
    let never = new && !state.never_fits(job, pool, row.base_milli);
    // A queue's limit may have been lowered since.
    if never || state.queue_limit(job, Count::Later).is_some() {
        return Err(DropReason::NoLongerFits);
    }
    state.nominate(job, pool, holds);
    if over_booked(state, job) {
        state.lift(job);
        return Err(DropReason::NoLongerFits);
    }
    Ok(job)
}

/// Somebody who is not leaving holds a part of the promised space.
fn over_booked(state: &State<'_, '_>, job: usize) -> bool {
    let later = &state.space.later;
    state.jobs[job].nominated.iter().flatten().any(|hold| {
        (hold.cpu > 0 && later.cpu[hold.node] < 0)
            || (hold.memory > 0 && later.memory[hold.node] < 0)
            || hold
                .slices
                .iter()
                .any(|slice| later.gpu_milli[slice.gpu] < 0 || later.gpu_memory[slice.gpu] < 0)
    })
}

/// Space was given back while this plan was made: promises for which nobody need leave may start now.
/// Whether any did.
pub(super) fn start_early(state: &mut State<'_, '_>, draft: &mut Draft) -> bool {
    let mut started = false;
    let problem = state.problem;
    let mut old: Vec<&Nomination> = problem.snapshot.nominations.iter().collect();
    old.sort_unstable_by_key(|nomination| (nomination.created_at, nomination.job));
    let order: Vec<usize> = old.iter().filter_map(|nomination| problem.job(nomination.job)).collect();
    let old: BTreeSet<usize> = order.iter().copied().collect();
    // Who was promised space in this plan for evictions waits for them.
    let evicts: BTreeSet<JobId> = match old.is_empty() {
        true => BTreeSet::new(),
        false => evicting(draft).collect(),
    };
    let order = order.into_iter().filter(|&job| !evicts.contains(&problem.jobs[job].job.id));
    let new = draft.without_victims.iter().copied().filter(|job| !old.contains(job));
    let all: Vec<usize> = order.chain(new).collect();
    for job in all {
        // A promise is no use now: as long as there is no quota for it, lifting it gives none.
        if !has_left(state, job) || !state.fits_now(job) {
            continue;
        }
        let Some((pool, holds)) = state.lift(job) else { continue };
        let Some(place) = place_to_start(state, job, pool, &holds) else {
            state.nominate(job, pool, holds);
            continue;
        };
        state.start(job, pool, place);
        state.jobs[job].was_promised = old.contains(&job);
        let id = problem.jobs[job].job.id;
        draft.reclaims.retain(|reclaim| reclaim.evictor != Some(id));
        draft.without_victims.retain(|&promised| promised != job);
        started = true;
    }
    started
}

/// For whom somebody is asked to leave in this plan.
fn evicting(draft: &Draft) -> impl Iterator<Item = JobId> + '_ {
    let evicts = draft.reclaims.iter().filter(|reclaim| !reclaim.evictions.is_empty());
    evicts.filter_map(|reclaim| reclaim.evictor)
}

/// Where a promised job, not nominated just now, may start: in its place, or on idle GPUs of the same pool.
fn place_to_start(state: &mut State<'_, '_>, job: usize, pool: usize, holds: &[Hold]) -> Option<Vec<Hold>> {
    if !has_its_space(state, job) {
        return None;
    }
    if is_startable(state, job, pool, holds) {
        return Some(holds.to_vec());
    }
    open_place(state, job, pool)
}

/// Idle GPUs of the same pool on which the job, not nominated just now, may start before its victims are
/// gone: no GPU idles beside who may have it.
fn open_place(state: &mut State<'_, '_>, job: usize, pool: usize) -> Option<Vec<Hold>> {
    let problem = state.problem;
    state.space.open.settle(problem);
    let row = &problem.jobs[job];
    if !is_within_limits(state, job, pool) {
        return None;
    }
    let class = &problem.classes[row.class];
    let mut budget = Budget::new(EARLY_STEPS);
    let found =
        fit::place(problem, &state.space.open, class, pool, class.members, Among::Working, &mut budget);
    found.ok().flatten()
}

/// Whether the job, not nominated just now, can start on exactly these holds. Members may share a
/// node, so all are taken before any is judged.
fn is_startable(state: &mut State<'_, '_>, job: usize, pool: usize, holds: &[Hold]) -> bool {
    if !holds.iter().all(|hold| state.space.is_free_now(hold)) {
        return false;
    }
    for hold in holds {
        state.space.take(state.problem, hold, Count::Both);
    }
    let fits = holds.iter().all(|hold| state.space.is_not_over_booked_now(hold));
    for hold in holds {
        state.space.give(state.problem, hold, Count::Both);
    }
    fits && is_within_limits(state, job, pool)
}

/// Quota and queue have room for the job.
fn is_within_limits(state: &State<'_, '_>, job: usize, pool: usize) -> bool {
    state.queue_limit(job, Count::Both).is_none()
        && state.quota(job, pool, state.problem.jobs[job].base_milli).is_ok()
}

/// A job that moves starts again once it has left.
fn has_left(state: &State<'_, '_>, job: usize) -> bool {
    state.jobs[job].members.is_empty()
}

/// Nobody who was asked to leave for the job is still there. Until then it waits, even beside an idle GPU:
/// they leave anyway, and it may have no right or no quota without that.
fn has_its_space(state: &State<'_, '_>, job: usize) -> bool {
    !state.problem.leaving_for.contains(&state.problem.jobs[job].job.id)
}

/// Commits victims and nomination together. Starts of this plan among the victims are taken back; the
/// caller looks whether the job can start at once.
pub(super) fn commit(state: &mut State<'_, '_>, draft: &mut Draft, evictor: &Evictor, found: &Found) {
    let mut evictions = draft::evictions(state, evictor, found);
    for chosen in &found.victims {
        let job = chosen.key.unit.job;
        if state.jobs[job].fresh {
            if state.jobs[job].was_promised {
                let job = state.problem.jobs[job].job.id;
                draft.dropped.push(DroppedNomination { job, why: DropReason::NotNeeded });
            }
            state.withdraw(job);
            continue;
        }
        if chosen.right.cause == EvictionCause::Rebalance {
            state.rebalance_left = state.rebalance_left.saturating_sub(1);
        }
        for at in chosen.key.unit.members(state) {
            if !state.jobs[job].members[at].leaving {
                state.release(job, at);
            }
        }
    }
    if evictions.is_empty() && is_startable(state, evictor.job, evictor.pool, &found.holds) {
        state.start(evictor.job, evictor.pool, found.holds.clone());
        return;
    }
    state.nominate(evictor.job, evictor.pool, found.holds.clone());
    for home in &found.homes {
        state.nominate(home.job, evictor.pool, home.holds.clone());
    }
    state.moves_left = state.moves_left.saturating_sub(found.homes.len());
    draft::complete(state, evictor, found, &mut evictions);
    for eviction in &evictions {
        state.look_again(eviction.leave_by);
    }
    draft.within_team |= evictions.iter().any(|eviction| eviction.cause == EvictionCause::Preemption);
    if evictions.is_empty() {
        draft.without_victims.push(evictor.job);
    }
    let expires_at = expiry(state, found);
    state.look_again(expires_at);
    let problem = state.problem;
    let reclaim = |job: usize, holds: &[Hold], evictions: Vec<Eviction>| Reclaim {
        pool: problem.pools[evictor.pool],
        evictor: Some(problem.jobs[job].job.id),
        evictions,
        nomination: draft::placements(problem, holds),
        expires_at,
    };
    draft.reclaims.push(reclaim(evictor.job, &found.holds, evictions));
    draft.reclaims.extend(found.homes.iter().map(|home| reclaim(home.job, &home.holds, Vec::new())));
}

/// The last grace of those in the way, and the policy's time-out after it.
fn expiry(state: &State<'_, '_>, found: &Found) -> DateTime<Utc> {
    let problem = state.problem;
    let timeout = problem.snapshot.policy.nomination_timeout();
    let newly = found.victims.iter().map(|chosen| draft::leave_by(state, chosen.key.unit));
    let holds = found.holds.iter().chain(found.homes.iter().flat_map(|home| &home.holds));
    let on_nodes = holds.flat_map(|hold| state.on_node[hold.node].iter());
    let already = on_nodes.flat_map(|&job| &problem.jobs[job].job.members);
    let already = already.filter_map(|member| member.leaving.as_ref()).map(|leaving| leaving.leave_by);
    newly.chain(already).chain([problem.now]).max().unwrap_or(problem.now) + timeout
}
