//! Elastic jobs gain surplus members where nothing pending needs the space.
//!
//! This module never evicts for growth, and never shrinks: surplus members are the first victims of
//! those who have a right.

use super::backfill::Backlog;
use super::fit::{self, Among, Budget};
use super::ledger::Share;
use super::problem::Hold;
use super::state::State;
use crate::id::JobId;
use crate::policy::{Rebalance, ReclaimMode};
use chrono::{DateTime, Utc};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const GROW_STEPS: u64 = 200_000;

/// Who grows next: class band, weighted share, age.
type Turn = (Reverse<i32>, Share, DateTime<Utc>, JobId, usize);

/// Adds members one by one. `contended[pool]`: a pending job waits for space there. What is kept for planned starts
/// stays free, and so does the quota that they wait with.
pub(super) fn grow(state: &mut State<'_, '_>, contended: &[bool], waiting: &[usize], backlog: &Backlog) {
    state.space.hide(state.problem, backlog.holds(), backlog.covers().map(|cover| &cover.hold));
    grow_all(state, contended, waiting, backlog);
    state.space.show(state.problem);
}

fn grow_all(state: &mut State<'_, '_>, contended: &[bool], waiting: &[usize], backlog: &Backlog) {
    let claims = Claims::new(state, waiting);
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
        if let Some(hold) = one_more(state, &claims, backlog, job, pool, &mut budget) {
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

fn one_more(
    state: &mut State<'_, '_>,
    claims: &Claims,
    backlog: &Backlog,
    job: usize,
    pool: usize,
    budget: &mut Budget,
) -> Option<Hold> {
    let problem = state.problem;
    let row = &problem.jobs[job];
    let members = &state.jobs[job].members;
    let full = members.len() >= row.job.max_replicas as usize;
    let home = members.first()?.hold.node;
    let never = row.surplus_never_evicted && !state.never_fits(job, pool, row.member_milli);
    if full || never || !state.queue_lets_grow(job) || state.quota(job, pool, row.member_milli).is_err() {
        return None;
    }
    if claims.would_take_back(state, job, pool) || backlog.is_spoilt_by_one_more(state, job, pool) {
        return None;
    }
    let class = &problem.classes[row.class];
    let Some(level) = &class.require else {
        state.space.open.settle(problem);
        let open = &state.space.open;
        return fit::place_anywhere(problem, open, class, pool, 1, Among::Working, budget).ok()??.pop();
    };
    let nodes = problem.places.get(&(pool, level.as_str()))?.iter().find(|nodes| nodes.contains(&home))?;
    fit::place_on(problem, &state.space.open, class, nodes, 1, Among::Working, budget).ok()??.pop()
}

/// What waiting jobs might take from teams that are on loan, by pool: nobody grows into that, or the next
/// plan would evict for them.
struct Claims {
    /// The nodes of the tree inside whose guarantee a waiting job lies.
    owners: Vec<Vec<usize>>,
    /// The highest priority of those that wait on loan.
    borrowers: Vec<Option<i32>>,
}

impl Claims {
    fn new(state: &State<'_, '_>, waiting: &[usize]) -> Self {
        let pools = state.problem.pools.len();
        let mut claims = Self { owners: vec![Vec::new(); pools], borrowers: vec![None; pools] };
        for &job in waiting.iter().filter(|&&job| state.problem.jobs[job].job.evict_others) {
            let row = &state.problem.jobs[job];
            if let Some(held) = &state.jobs[job].held {
                claims.owners[held.pool].push(held.owner);
                continue;
            }
            for &pool in row.pools.iter() {
                let owner = state.inside(job, pool).and_then(|steps| state.tree.path(row.team?).nth(steps));
                claims.owners[pool].extend(owner);
                claims.borrowers[pool] = claims.borrowers[pool].max(Some(row.job.priority.0));
            }
        }
        claims
    }

    /// Whether one more member would use up what an owner waits for, or lie on a loan that a waiting job
    /// might recall or preempt, from this job or from another of its branch.
    fn would_take_back(&self, state: &State<'_, '_>, job: usize, pool: usize) -> bool {
        let problem = state.problem;
        let row = &problem.jobs[job];
        let Some(team) = row.team.filter(|_| row.member_milli > 0) else { return false };
        let owners = &self.owners[pool];
        if owners.iter().any(|&owner| state.tree.is_under(team, owner)) {
            return true;
        }
        let (ledger, limits) = (&state.later[pool], &state.limits[pool]);
        let mut path = state.tree.path(team);
        if !path.any(|node| ledger.used[node] + row.member_milli > limits.guaranteed[node]) {
            return false;
        }
        let top = state.tree.path(team).last().unwrap_or(team);
        let branch = (0..problem.teams.len()).filter(|&other| state.tree.is_under(other, top));
        let lowest = branch.map(|other| state.lowest[other]).min().unwrap_or(i32::MAX);
        let policy = &problem.snapshot.policy;
        let asks = self.borrowers[pool];
        let preempts = policy.borrow_preemption_max_priority.is_some_and(|max| lowest <= max)
            && asks.is_some_and(|priority| priority > lowest);
        let rebalances =
            policy.rebalance != Rebalance::Off && asks.is_some_and(|priority| priority >= lowest);
        (!owners.is_empty() && policy.reclaim != ReclaimMode::Off) || preempts || rebalances
    }
}
