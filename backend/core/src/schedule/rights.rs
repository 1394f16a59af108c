//! Who may take GPUs from whom: the rules 2.3, 2.5, 2.7, 2.8 and 4.2 to 4.5, judged on the state as it
//! would be once everybody who was asked to leave had left.
//!
//! This module ranks nobody and moves nothing.

use super::ledger::Share;
use super::state::State;
use super::unit::Unit;
use crate::eviction::EvictionCause;
use crate::policy::{PreemptWithinTeam, Rebalance, ReclaimMode};
use crate::priority::Priority;
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
    /// The moment at which minimum run times are judged. Later than now: to tell why a job waits and what
    /// to hold for it, never to evict.
    pub(super) as_of: DateTime<Utc>,
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
    let target = Target::of(state, unit, evictor.as_of);
    if team != evictor.team {
        return right_to(state, evictor, team, &target);
    }
    within_team(state, evictor, unit).unless_protected(&target)
}

/// All of a unit by which others than its own team have a right to it, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Target {
    pub(super) milli: i64,
    priority: Priority,
    /// By its minimum run time, beyond the moment that was asked for.
    protected_until: Option<DateTime<Utc>>,
}

impl Target {
    pub(super) fn of(state: &State<'_, '_>, unit: Unit, as_of: DateTime<Utc>) -> Self {
        let row = &state.problem.jobs[unit.job];
        let is_protected =
            row.protected_until > as_of && unit.surplus.is_none() && !unit.starts_now(state, as_of);
        Self {
            milli: unit.milli(state),
            priority: row.job.priority,
            protected_until: is_protected.then_some(row.protected_until),
        }
    }
}

impl Verdict {
    const fn unless_protected(self, target: &Target) -> Self {
        match (self, target.protected_until) {
            (Self::May(_), Some(until)) => Self::Protected(until),
            (verdict, _) => verdict,
        }
    }
}

/// As [`right`], to any unit of another team that is like this.
pub(super) fn right_to(state: &State<'_, '_>, evictor: &Evictor, team: usize, target: &Target) -> Verdict {
    across_teams(state, evictor, team, target).unless_protected(target)
}

/// Rule 4.2.
fn within_team(state: &State<'_, '_>, evictor: &Evictor, unit: Unit) -> Verdict {
    let (asking, victim) = (state.problem.jobs[evictor.job].job, state.problem.jobs[unit.job].job);
    let (victim_class, asking_class) = (victim.priority_in_team(), asking.priority_in_team());
    let lower = victim_class < asking_class;
    let newer_equal =
        victim_class == asking_class && (victim.submitted_at, victim.id) > (asking.submitted_at, asking.id);
    let may = match state.problem.snapshot.policy.preempt_within_team {
        PreemptWithinTeam::Lower => lower,
        PreemptWithinTeam::LowerOrNewerEqual => lower || newer_equal,
        PreemptWithinTeam::Off => unit.starts_now(state, evictor.as_of) && lower,
    };
    let rank = u8::from(evictor.inside);
    if may {
        Verdict::May(Right { cause: EvictionCause::Preemption, rank, overshoot: 0 })
    } else {
        Verdict::Never
    }
}

fn across_teams(state: &State<'_, '_>, evictor: &Evictor, team: usize, target: &Target) -> Verdict {
    let (ledger, limits) = (&state.later[evictor.pool], &state.limits[evictor.pool]);
    let Some((asking_side, victim_side)) = state.tree.fork(evictor.team, team) else { return Verdict::Never };
    let amount = target.milli;
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
    let Some(cause) = cause_across(state, evictor, target, (asking_side, victim_side)) else {
        return Verdict::Never;
    };
    let owner = cause == EvictionCause::Reclaim;
    if overshoot > 0 && !(owner && evictor.may_overshoot) {
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
    victim: &Target,
    (asking_side, victim_side): (usize, usize),
) -> Option<EvictionCause> {
    let (ledger, limits) = (&state.later[evictor.pool], &state.limits[evictor.pool]);
    let asking = state.problem.jobs[evictor.job].job;
    let policy = &state.problem.snapshot.policy;
    let lower = victim.priority < asking.priority;
    let held = state.held_milli[evictor.pool][asking_side];
    if ledger.used[asking_side] + held + evictor.milli <= limits.guaranteed[asking_side] {
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

/// All that [`right`] depends on beside the unit and its job, for units of one team: the same terms mean the
/// same verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms {
    /// The victims' side of the fork; `None` for the evictor's own team.
    side: Option<usize>,
    /// The asking side stays inside its guarantee.
    reclaims: bool,
    /// The least that a level of the victims' branch uses above its guarantee.
    loan_milli: i64,
    priority: Priority,
    /// Where equals count: the asking job's age.
    age: Option<(DateTime<Utc>, usize)>,
    inside: bool,
    may_overshoot: bool,
    as_of: DateTime<Utc>,
    asks_gpus: bool,
    /// Where shares count: the asking side's with its request, and the victims'.
    shares: Option<(Share, Share)>,
}

impl Terms {
    /// The share by which the team competes with the evictor's: as [`victim_share`].
    pub(super) fn share(&self, state: &State<'_, '_>, pool: usize) -> Share {
        let own = Share { over: 0, weight: 1 };
        self.side.map_or(own, |side| state.later[pool].share(&state.limits[pool], side, 0))
    }
}

/// Whether the evictor's top-level branch stays inside its guarantee: then it recalls loans from all others.
pub(super) fn reclaims_at_root(state: &State<'_, '_>, evictor: &Evictor) -> bool {
    let side = state.sides.of[evictor.team];
    let used = state.later[evictor.pool].used[side] + state.held_milli[evictor.pool][side];
    used + evictor.milli <= state.limits[evictor.pool].guaranteed[side]
}

/// The terms on which the evictor meets a team's units; `None` where it has no right to any.
pub(super) fn terms(state: &State<'_, '_>, evictor: &Evictor, team: usize) -> Option<Terms> {
    let (ledger, limits) = (&state.later[evictor.pool], &state.limits[evictor.pool]);
    let policy = &state.problem.snapshot.policy;
    let asking = state.problem.jobs[evictor.job].job;
    let equal = policy.preempt_within_team == PreemptWithinTeam::LowerOrNewerEqual;
    let mut terms = Terms {
        side: None,
        reclaims: false,
        loan_milli: 0,
        priority: asking.priority,
        age: (equal && team == evictor.team).then_some((asking.submitted_at, evictor.job)),
        inside: evictor.inside,
        may_overshoot: evictor.may_overshoot,
        as_of: evictor.as_of,
        asks_gpus: evictor.milli > 0,
        shares: None,
    };
    if team == evictor.team {
        let class = asking.priority_in_team();
        terms.priority = class;
        // A bound: what counts in the team is never less.
        let lowest = state.lowest[team];
        let hopes = lowest < class.0 || (equal && lowest == class.0);
        return hopes.then_some(terms);
    }
    let (asking_side, victim_side) = state.tree.fork(evictor.team, team)?;
    let mut loan = i64::MAX;
    for node in state.tree.path(team) {
        loan = loan.min(ledger.used[node] - limits.guaranteed[node]);
        if loan <= 0 || node == victim_side {
            break;
        }
    }
    if loan <= 0 || evictor.milli == 0 {
        return None;
    }
    terms.side = Some(victim_side);
    terms.loan_milli = loan;
    let held = state.held_milli[evictor.pool][asking_side];
    terms.reclaims = ledger.used[asking_side] + held + evictor.milli <= limits.guaranteed[asking_side];
    if terms.reclaims {
        // Whoever recalls a loan asks for no class, unless the policy does.
        match policy.reclaim {
            ReclaimMode::Any => terms.priority = Priority(0),
            ReclaimMode::LowerPriority => {}
            ReclaimMode::Off => return None,
        }
        return Some(terms);
    }
    let by_class = policy.borrow_preemption_max_priority.map(|max| max.min(asking.priority.0 - 1));
    let by_share = (policy.rebalance != Rebalance::Off).then_some(asking.priority.0);
    if by_class.max(by_share).is_none_or(|most| state.lowest[team] > most) {
        return None;
    }
    terms.shares = by_share
        .map(|_| (ledger.share(limits, asking_side, evictor.milli), ledger.share(limits, victim_side, 0)));
    Some(terms)
}
