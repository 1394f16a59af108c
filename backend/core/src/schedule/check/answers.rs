//! What a plan says: one reason a waiting job, who borrows from whom, a pool's mode.

use super::Violation;
use super::index::Index;
use super::quota::{Guarantees, Use};
use crate::id::{JobId, TeamId};
use crate::queue::QueueState;
use crate::reason::ReasonCode;
use crate::schedule::plan::{Plan, PoolMode};
use crate::units::MilliGpu;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn judge(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    reasons(index, plan, found);
    loans(index, plan, found);
    for pool in &index.snapshot.pools {
        let Some(overcommitted) = Guarantees::new(index, pool.id).overcommitted() else { continue };
        let expected = if overcommitted { PoolMode::Overcommitted } else { PoolMode::Normal };
        if plan.pool_modes.get(&pool.id) != Some(&expected) {
            found.push(Violation::new("wrong_pool_mode", format!("pool {} is {expected}", pool.id)));
        }
    }
    if plan.next_due.is_some_and(|due| due <= index.snapshot.now) {
        found.push(Violation::new("due_in_the_past", "next_due is not after now"));
    }
}

fn reasons(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    let started: BTreeSet<JobId> = plan.starts.iter().map(|start| start.job).collect();
    let mut explained = BTreeSet::new();
    for (job, explanation) in &plan.waiting {
        if !explained.insert(*job) {
            found.push(Violation::new("two_reasons", format!("job {job}")));
        }
        if !index.jobs[job].is_pending() || started.contains(job) {
            found.push(Violation::new("reason_without_waiting", format!("job {job}")));
        }
        let main = explanation.main.code;
        if explanation.others.iter().any(|other| other.code < main) {
            found.push(Violation::new("reasons_out_of_order", format!("job {job}: {main} is not the first")));
        }
        let queue = index.queues.get(&index.jobs[job].queue);
        let held = queue.is_some_and(|queue| queue.state == QueueState::Held);
        if (held && main > ReasonCode::QueueHeld)
            || (main == ReasonCode::QueueHeld && !held && !index.jobs[job].held)
        {
            found.push(Violation::new("false_reason", format!("job {job}: {main}")));
        }
        let closed = !index.window_is_open(index.jobs[job]);
        if closed != (main == ReasonCode::OutsideTimeWindow)
            && (!closed || main > ReasonCode::OutsideTimeWindow)
        {
            found.push(Violation::new(
                "false_reason",
                format!("job {job}: {main}, its window is closed: {closed}"),
            ));
        }
    }
    let waiting = index.snapshot.jobs.iter().filter(|job| job.is_pending() && !started.contains(&job.id));
    for job in waiting.filter(|job| !explained.contains(&job.id)) {
        found.push(Violation::new("no_reason", format!("job {}", job.id)));
    }
}

/// Loans are use above the guarantee, from lenders that have it idle and lend it.
fn loans(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    let mut held = Use::held(index);
    held.add_starts(index, plan);
    for pool in &index.snapshot.pools {
        let guarantees = Guarantees::new(index, pool.id);
        let mut borrowed: BTreeMap<TeamId, MilliGpu> = BTreeMap::new();
        let mut lent: BTreeMap<TeamId, MilliGpu> = BTreeMap::new();
        for loan in plan.loans.iter().filter(|loan| loan.pool == pool.id) {
            if loan.milli.0 <= 0 || loan.lender == Some(loan.borrower) {
                found.push(Violation::new("empty_loan", format!("team {}", loan.borrower)));
            }
            *borrowed.entry(loan.borrower).or_default() += loan.milli;
            // A department's pot is its children's first: what they use of it is not lent away.
            let lender = loan.lender.filter(|lender| !index.chain(loan.borrower).contains(lender));
            if let Some(lender) = lender {
                *lent.entry(lender).or_default() += loan.milli;
            }
        }
        for team in &index.snapshot.teams {
            let used = held.own(team.id, pool.id);
            let is_leaf = index.children(Some(team.id)).next().is_none();
            let got = borrowed.get(&team.id).copied().unwrap_or_default();
            let least = (used - guarantees.high(team.id)).or_zero();
            let most = (used - guarantees.low(team.id)).or_zero();
            if is_leaf && (got < least || got > most) {
                let detail =
                    format!("team {} in pool {}: {} of {} milli-GPU", team.id, pool.id, got.0, most.0);
                found.push(Violation::new("loans_do_not_add_up", detail));
            }
            let lends = lent.get(&team.id).copied().unwrap_or_default();
            let idle = (guarantees.high(team.id) - held.all(team.id, pool.id)).or_zero();
            let limit = index.quotas.get(&(team.id, pool.id)).and_then(|quota| quota.lend_limit);
            if lends > MilliGpu::ZERO
                && (limit.is_some_and(|limit| lends > limit) || (is_leaf && lends > idle))
            {
                let detail = format!(
                    "team {} in pool {}: {} milli-GPU, idle {}, at most {limit:?}",
                    team.id, pool.id, lends.0, idle.0
                );
                found.push(Violation::new("lends_too_much", detail));
            }
        }
    }
}
