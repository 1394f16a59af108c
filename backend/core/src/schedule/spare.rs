//! Rule 2.4 across decisions: whoever was asked to leave for a job, and need not after what was decided later, is spared.
//!
//! Only work that gives way within its own team is looked at: no right of anybody depends on its leaving. A set of
//! victims is made minimal where it is chosen; this module chooses none.

use super::draft::Draft;
use super::plan::{Eviction, Reclaim};
use super::queue_use::has_limits;
use super::state::State;
use crate::eviction::EvictionCause;
use crate::id::PoolId;
use std::collections::BTreeMap;

/// Spares them in the order of the decisions; whether there was any.
pub(super) fn spare_needless(state: &mut State<'_, '_>, draft: &mut Draft) -> bool {
    if !draft.within_team {
        return false;
    }
    let mut deciding: BTreeMap<PoolId, usize> = BTreeMap::new();
    for reclaim in draft.reclaims.iter().filter(|reclaim| !reclaim.evictions.is_empty()) {
        *deciding.entry(reclaim.pool).or_default() += 1;
    }
    // What is decided alone is minimal.
    deciding.retain(|_, decisions| *decisions > 1);
    for rebalancing in draft.reclaims.iter().filter(|reclaim| rebalances(reclaim)) {
        deciding.remove(&rebalancing.pool);
    }
    let mut spared = false;
    for reclaim in draft.reclaims.iter_mut().filter(|reclaim| deciding.contains_key(&reclaim.pool)) {
        let within_team = |eviction: &Eviction| eviction.cause == EvictionCause::Preemption;
        if reclaim.evictions.iter().all(within_team) {
            let before = reclaim.evictions.len();
            let evictor = reclaim.evictor.and_then(|id| state.problem.job(id));
            reclaim.evictions.retain(|eviction| !evictor.is_some_and(|asks| spare(state, asks, eviction)));
            spared |= reclaim.evictions.len() < before;
        }
    }
    if spared {
        draft.list_without_victims(state.problem);
    }
    spared
}

/// Sharing surplus out compares everybody's use.
fn rebalances(reclaim: &Reclaim) -> bool {
    reclaim.evictions.iter().any(|eviction| eviction.cause == EvictionCause::Rebalance)
}

/// Lets the victim stay if everybody still has the space and the quota that was promised.
fn spare(state: &mut State<'_, '_>, evictor: usize, eviction: &Eviction) -> bool {
    let Some(job) = state.problem.job(eviction.job) else { return false };
    let (row, asks) = (&state.problem.jobs[job], &state.problem.jobs[evictor]);
    let in_its_queue = asks.queue.filter(|queue| row.queue == Some(*queue));
    if asks.base_inside_only || in_its_queue.is_some_and(|queue| has_limits(state.problem.queues[queue])) {
        return false;
    }
    let Some(pool) = state.jobs[job].pool else { return false };
    let was_inside = is_inside(state, job, pool);
    let members = &state.jobs[job].members;
    let back: Vec<usize> = (0..members.len())
        .filter(|&at| members[at].leaving && eviction.members.contains(&members[at].index))
        .collect();
    back.iter().for_each(|&at| state.restore(job, at));
    let has_space = back
        .iter()
        .all(|&at| state.space.is_not_over_booked_later(state.problem, &state.jobs[job].members[at].hold));
    if has_space && state.is_within_quota_later(job, pool) && was_inside == is_inside(state, job, pool) {
        return true;
    }
    back.iter().for_each(|&at| state.release(job, at));
    false
}

/// Whether all that its team will use lies inside the team's guarantee.
fn is_inside(state: &State<'_, '_>, job: usize, pool: usize) -> bool {
    let used = &state.later[pool].used;
    state.problem.jobs[job].team.is_none_or(|team| used[team] <= state.limits[pool].guaranteed[team])
}
