//! What a plan says about the state that it leaves behind: loans, pool modes, contention, the next due
//! moment. Nothing is decided here.

use super::hourly::next_allowed;
use super::line::{Line, Lines};
use super::loans;
use super::plan::{Loan, PoolMode};
use super::space::Count;
use super::state::State;
use crate::id::PoolId;
use crate::policy::{Consolidation, Rebalance};
use crate::units::MilliGpu;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;

/// Who borrows from whom, the starts of this plan included and the leaving not yet gone.
pub(super) fn loans(state: &State<'_, '_>) -> Vec<Loan> {
    let problem = state.problem;
    let in_pool = |pool: usize| {
        let debts = loans::attribute(&state.tree, &state.limits[pool], &state.now[pool]);
        debts.into_iter().map(move |debt| Loan {
            pool: problem.pools[pool],
            borrower: problem.teams[debt.borrower],
            lender: debt.lender.map(|lender| problem.teams[lender]),
            milli: MilliGpu(debt.milli),
        })
    };
    (0..problem.pools.len()).flat_map(in_pool).collect()
}

pub(super) fn pool_modes(state: &State<'_, '_>) -> BTreeMap<PoolId, PoolMode> {
    let mode = |overcommitted: bool| if overcommitted { PoolMode::Overcommitted } else { PoolMode::Normal };
    state
        .problem
        .pools
        .iter()
        .zip(&state.limits)
        .map(|(&pool, limits)| (pool, mode(limits.overcommitted)))
        .collect()
}

/// By pool: a pending job waits there for space, not for quota.
pub(super) fn contended(state: &State<'_, '_>, lines: &Lines) -> Vec<bool> {
    let mut contended = vec![false; state.problem.pools.len()];
    for job in lines.iter().filter_map(Line::head) {
        let row = &state.problem.jobs[job];
        let promised = state.jobs[job].nominated.is_some() || state.jobs[job].held.is_some();
        if promised || state.queue_limit(job, Count::Both).is_some() {
            continue;
        }
        for &pool in row.pools.iter() {
            let never = row.base_inside_only && !state.never_fits(job, pool, row.base_milli);
            contended[pool] |= !never && state.quota_later(job, pool, row.base_milli).is_ok();
        }
    }
    contended
}

/// Nominations, graces, protections, and the hourly cap of rebalancing.
pub(super) fn next_due(state: &mut State<'_, '_>) -> Option<DateTime<Utc>> {
    let snapshot = state.problem.snapshot;
    let timeout = snapshot.policy.nomination_timeout();
    let leaving = state.problem.jobs.iter().filter(|row| row.members.iter().any(|member| member.leaving));
    let leaving = leaving.flat_map(|row| &row.job.members).filter_map(|member| member.leaving.as_ref());
    for leaving in leaving {
        state.look_again(leaving.leave_by);
        state.look_again(leaving.leave_by + timeout);
    }
    let waiting = (0..state.problem.jobs.len()).filter(|&job| state.problem.jobs[job].job.is_pending());
    if state.problem.rule_book.any_closed()
        && let Some(opens) = waiting.filter_map(|job| state.problem.closed_until(job)).min()
    {
        state.look_again(opens);
    }
    for at in state.problem.calendar.moments() {
        state.look_again(at);
    }
    let capped = [
        (snapshot.policy.rebalance != Rebalance::Off)
            .then_some((state.rebalance_left, &snapshot.rebalance_evictions_last_hour)),
        (snapshot.policy.consolidation != Consolidation::Off)
            .then_some((state.moves_left, &snapshot.consolidation_moves_last_hour)),
    ];
    for (left, recent) in capped.into_iter().flatten() {
        if let Some(at) = next_allowed(left, recent) {
            state.look_again(at);
        }
    }
    state.due
}
