//! Elastic jobs gain surplus members where nothing pending needs the space.
//!
//! This module never evicts for growth, and never shrinks: surplus members are the first victims of
//! those who have a right.

use super::fit::{self, Among, Budget};
use super::ledger::Share;
use super::problem::Hold;
use super::state::State;
use crate::id::JobId;
use chrono::{DateTime, Utc};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const GROW_STEPS: u64 = 200_000;

/// Who grows next: class band, weighted share, age.
type Turn = (Reverse<i32>, Share, DateTime<Utc>, JobId, usize);

/// Adds members one by one. `contended[pool]`: a pending job waits for space there.
pub(super) fn grow(state: &mut State<'_, '_>, contended: &[bool]) {
    let mut budget = Budget::new(GROW_STEPS);
    let growing = (0..state.jobs.len()).filter(|&job| may_grow(state, job, contended));
    let mut growing: BinaryHeap<Reverse<Turn>> = growing.map(|job| Reverse(turn(state, job))).collect();
    while let Some(Reverse(then)) = growing.pop() {
        let job = then.4;
        // Nobody shrinks here, so turns only get later: one that is no longer as it was waits for its new place.
        let now = turn(state, job);
        if now > then {
            growing.push(Reverse(now));
            continue;
        }
        let Some(pool) = state.jobs[job].pool else { continue };
        if let Some(hold) = one_more(state, job, pool, &mut budget) {
            state.start(job, pool, vec![hold]);
            growing.push(Reverse(turn(state, job)));
        }
    }
}

fn may_grow(state: &State<'_, '_>, job: usize, contended: &[bool]) -> bool {
    let (row, sim) = (&state.problem.jobs[job], &state.jobs[job]);
    let staying = sim.staying().count();
    row.job.max_replicas > row.job.min_replicas
        && staying >= row.job.min_replicas.max(1) as usize
        && staying == sim.members.len()
        && sim.pool.is_some_and(|pool| !contended[pool])
}

fn turn(state: &State<'_, '_>, job: usize) -> Turn {
    let row = &state.problem.jobs[job];
    let pool = state.jobs[job].pool.unwrap_or(0);
    let share = row
        .team
        .map_or(Share { over: 0, weight: 1 }, |team| state.later[pool].share(&state.limits[pool], team, 0));
    (Reverse(row.job.priority.band().value().0), share, row.job.submitted_at, row.job.id, job)
}

fn one_more(state: &mut State<'_, '_>, job: usize, pool: usize, budget: &mut Budget) -> Option<Hold> {
    let problem = state.problem;
    let row = &problem.jobs[job];
    let sim = &state.jobs[job];
    let full = sim.members.len() >= row.job.max_replicas as usize;
    let never = row.surplus_never_evicted && !state.never_fits(job, pool, row.member_milli);
    if full || never || !state.queue_lets_grow(job) || state.quota(job, pool, row.member_milli).is_err() {
        return None;
    }
    let class = &problem.classes[row.class];
    let home = sim.members.first()?.hold.node;
    let Some(level) = &class.require else {
        state.space.open.settle(problem);
        let open = &state.space.open;
        return fit::place_anywhere(problem, open, class, pool, 1, Among::Working, budget).ok()??.pop();
    };
    let nodes = problem.places.get(&(pool, level.as_str()))?.iter().find(|nodes| nodes.contains(&home))?;
    fit::place_on(problem, &state.space.open, class, nodes, 1, Among::Working, budget).ok()??.pop()
}
