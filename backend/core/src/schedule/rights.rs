//! Who may take GPUs from whom: the rules 2.3, 2.5, 2.7, 2.8 and 4.2 to 4.5, judged on the state as it
//! would be once everybody who was asked to leave had left.
//!
//! This module ranks nobody and moves nothing.

use super::ledger::Share;
use super::state::State;
use super::victims::Unit;
use crate::eviction::EvictionCause;
use crate::policy::{PreemptWithinTeam, Rebalance, ReclaimMode};
use chrono::{DateTime, Utc};

/// The job that asks for room, in one pool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evictor {
    pub(super) job: usize,
    pub(super) team: usize,
    pub(super) pool: usize,
    pub(super) milli: i64,
    /// Inside a guarantee even while its own team's jobs all stay.
    pub(super) inside: bool,
    /// Rule 2.5: may a team be pushed below its guarantee, because nothing else works?
    pub(super) may_overshoot: bool,
    /// Look past minimum run times: to tell why a job waits, never to evict.
    pub(super) past_protection: bool,
}

/// A right to take one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Right {
    pub(super) cause: EvictionCause,
    /// Which rights are used first. An owner inside its guarantee recalls loans before it sacrifices
    /// its own team's work; anyone else gives up its own team's lower classes first.
    pub(super) rank: u8,
    /// How far the deepest team falls below its guarantee.
    pub(super) overshoot: i64,
}

/// The answer for one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    May(Right),
    /// Protected by its minimum run time until then.
    Protected(DateTime<Utc>),
    /// Only this far below its team's guarantee, which this evictor may not go, or not yet.
    BelowGuarantee,
    Never,
}

pub(super) fn right(state: &State<'_, '_>, evictor: &Evictor, unit: Unit) -> Verdict {
    let row = &state.problem.jobs[unit.job];
    if unit.job == evictor.job || state.jobs[unit.job].pool != Some(evictor.pool) {
        return Verdict::Never;
    }
    let Some(team) = row.team else { return Verdict::Never };
    let verdict = if team == evictor.team {
        within_team(state, evictor, unit)
    } else {
        across_teams(state, evictor, unit, team)
    };
    let Verdict::May(right) = verdict else { return verdict };
    let protected = unit.surplus.is_none() && !state.jobs[unit.job].fresh;
    if protected && row.protected_until > state.problem.now && !evictor.past_protection {
        return Verdict::Protected(row.protected_until);
    }
    Verdict::May(right)
}

/// Rule 4.2.
fn within_team(state: &State<'_, '_>, evictor: &Evictor, unit: Unit) -> Verdict {
    let (asking, victim) = (state.problem.jobs[evictor.job].job, state.problem.jobs[unit.job].job);
    let lower = victim.priority < asking.priority;
    let newer_equal = victim.priority == asking.priority
        && (victim.submitted_at, victim.id) > (asking.submitted_at, asking.id);
    let may = match state.problem.snapshot.policy.preempt_within_team {
        PreemptWithinTeam::Lower => lower,
        PreemptWithinTeam::LowerOrNewerEqual => lower || newer_equal,
        PreemptWithinTeam::Off => state.jobs[unit.job].fresh && lower,
    };
    let rank = u8::from(evictor.inside);
    if may {
        Verdict::May(Right { cause: EvictionCause::Preemption, rank, overshoot: 0 })
    } else {
        Verdict::Never
    }
}

fn across_teams(state: &State<'_, '_>, evictor: &Evictor, unit: Unit, team: usize) -> Verdict {
    let (ledger, limits) = (&state.later[evictor.pool], &state.limits[evictor.pool]);
    let Some((asking_side, victim_side)) = state.tree.fork(evictor.team, team) else { return Verdict::Never };
    let amount = unit.milli(state);
    if amount == 0 || evictor.milli == 0 {
        return Verdict::Never;
    }
    // Every level of the victim's branch must be on loan, or the eviction would hit a guarantee.
    let mut overshoot = 0;
    for node in state.tree.path(team) {
        let (used, guaranteed) = (ledger.used[node], limits.guaranteed[node]);
        if used <= guaranteed {
            return Verdict::Never;
        }
        overshoot = overshoot.max(guaranteed - (used - amount));
        if node == victim_side {
            break;
        }
    }
    let Some(cause) = cause_across(state, evictor, unit, (asking_side, victim_side)) else {
        return Verdict::Never;
    };
    let owner = cause == EvictionCause::Reclaim;
    // Surplus members are divisible: fewer of them always work.
    if overshoot > 0 && !(owner && evictor.may_overshoot && unit.surplus.is_none()) {
        return Verdict::BelowGuarantee;
    }
    let rank = match cause {
        EvictionCause::Reclaim => u8::from(!evictor.inside),
        EvictionCause::BorrowPreemption => 2,
        _ => 3,
    };
    Verdict::May(Right { cause, rank, overshoot })
}

/// The rule that lets the evictor take this loan, if any.
fn cause_across(
    state: &State<'_, '_>,
    evictor: &Evictor,
    unit: Unit,
    (asking_side, victim_side): (usize, usize),
) -> Option<EvictionCause> {
    let (ledger, limits) = (&state.later[evictor.pool], &state.limits[evictor.pool]);
    let (asking, victim) = (state.problem.jobs[evictor.job].job, state.problem.jobs[unit.job].job);
    let policy = &state.problem.snapshot.policy;
    let lower = victim.priority < asking.priority;
    if ledger.used[asking_side] + evictor.milli <= limits.guaranteed[asking_side] {
        let may = match policy.reclaim {
            ReclaimMode::Any => true,
            ReclaimMode::LowerPriority => lower,
            ReclaimMode::Off => false,
        };
        return may.then_some(EvictionCause::Reclaim);
    }
    if lower && policy.borrow_preemption_max_priority.is_some_and(|max| victim.priority.0 <= max) {
        return Some(EvictionCause::BorrowPreemption);
    }
    let fairer = || {
        let mine = ledger.share(limits, asking_side, evictor.milli);
        mine.is_less(ledger.share(limits, victim_side, 0))
    };
    let rebalances = policy.rebalance != Rebalance::Off && victim.priority <= asking.priority && fairer();
    rebalances.then_some(EvictionCause::Rebalance)
}

/// The share by which a unit's team competes with the evictor's: at the fork of their branches.
pub(super) fn victim_share(state: &State<'_, '_>, evictor: &Evictor, unit: Unit) -> Share {
    let (ledger, limits) = (&state.later[evictor.pool], &state.limits[evictor.pool]);
    let fork = state.problem.jobs[unit.job].team.and_then(|team| state.tree.fork(evictor.team, team));
    fork.map_or(Share { over: 0, weight: 1 }, |(_, side)| ledger.share(limits, side, 0))
}

/// Placed jobs of the pool whose team lets the evictor hope; a cheap superset of the real victims.
pub(super) fn eligible_jobs(state: &State<'_, '_>, evictor: &Evictor) -> Vec<usize> {
    let problem = state.problem;
    let (ledger, limits) = (&state.later[evictor.pool], &state.limits[evictor.pool]);
    let asking = problem.jobs[evictor.job].job;
    let policy = &problem.snapshot.policy;
    let in_pool = |&job: &usize| state.jobs[job].pool == Some(evictor.pool);
    let of_team = |team: usize| state.of_team[team].iter().copied().filter(in_pool);
    let equal = policy.preempt_within_team == PreemptWithinTeam::LowerOrNewerEqual;
    let yields = |&job: &usize| {
        let priority = problem.jobs[job].job.priority;
        priority < asking.priority || (equal && priority == asking.priority)
    };
    let mut eligible: Vec<usize> = of_team(evictor.team).filter(yields).collect();
    let own_yields: i64 =
        eligible.iter().flat_map(|&job| &state.jobs[job].members).map(|member| member.milli).sum();
    let max_loan_class = policy.borrow_preemption_max_priority;
    for team in (0..problem.teams.len()).filter(|&team| team != evictor.team) {
        let Some((asking_side, victim_side)) = state.tree.fork(evictor.team, team) else { continue };
        let branch = state.tree.path(team).take_while(|&node| node != state.tree.parent[victim_side]);
        if branch.into_iter().any(|node| ledger.used[node] <= limits.guaranteed[node]) {
            continue;
        }
        let reclaims = policy.reclaim != ReclaimMode::Off
            && ledger.used[asking_side] + evictor.milli - own_yields <= limits.guaranteed[asking_side];
        let by_class = max_loan_class.map(|max| max.min(asking.priority.0 - 1));
        let by_share = (policy.rebalance != Rebalance::Off).then_some(asking.priority.0);
        if !reclaims && by_class.max(by_share).is_none_or(|most| state.lowest[team] > most) {
            continue;
        }
        let hopes = |&job: &usize| {
            let priority = problem.jobs[job].job.priority;
            let by_class = priority < asking.priority && max_loan_class.is_some_and(|max| priority.0 <= max);
            let by_share = policy.rebalance != Rebalance::Off && priority <= asking.priority;
            reclaims || by_class || by_share
        };
        eligible.extend(of_team(team).filter(hopes));
    }
    eligible.sort_unstable();
    eligible
}
