//! Rule 2.4: no victim that turned out needless. With the nomination where it is, each victim's GPUs,
//! node resources or quota must be wanted.
//!
//! A smaller set for another place is not looked for: that is the planner's search.

use super::Violation;
use super::index::{Index, held_by, is_overdue, stays};
use super::project::nominations;
use super::quota::{Guarantees, Use, protected_members};
use super::state::Bookings;
use crate::eviction::EvictionCause;
use crate::id::JobId;
use crate::schedule::plan::{Eviction, Plan, Reclaim};
use crate::schedule::snapshot::{Job, Member};
use crate::units::MilliGpu;
use std::collections::BTreeSet;

pub(super) fn judge(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    if plan.reclaims.iter().all(|reclaim| reclaim.evictor.is_none()) {
        return;
    }
    let settled = Settled::new(index, plan);
    for reclaim in &plan.reclaims {
        let Some(evictor) = reclaim.evictor.and_then(|id| index.jobs.get(&id)) else { continue };
        for eviction in &reclaim.evictions {
            if !is_wanted(index, &settled, reclaim, eviction, evictor) {
                let detail = format!("job {} need not leave for job {}", eviction.job, evictor.id);
                found.push(Violation::new("needless_victim", detail));
            }
        }
    }
}

/// The state when everybody has left who will, and everybody nominated has started.
struct Settled {
    bookings: Bookings,
    amounts: Use,
}

impl Settled {
    fn new(index: &Index<'_>, plan: &Plan) -> Self {
        let evicted: BTreeSet<(JobId, u32)> = plan
            .reclaims
            .iter()
            .flat_map(|reclaim| &reclaim.evictions)
            .flat_map(|eviction| eviction.members.iter().map(|&member| (eviction.job, member)))
            .collect();
        let mut bookings = Bookings::default();
        for job in &index.snapshot.jobs {
            let there = |member: &&Member| stays(member) || is_overdue(index.snapshot, member);
            for member in job.members.iter().filter(there) {
                if !evicted.contains(&(job.id, member.index)) {
                    bookings.add(member.node, &member.gpus, &job.shape);
                }
            }
        }
        let mut amounts = Use::staying_after(index, plan);
        amounts.add_starts(index, plan);
        let starts = plan.starts.iter().map(|start| (start.job, start.members.clone()));
        let promised = nominations(index.snapshot, plan);
        for nomination in &promised {
            if let Some(job) = index.jobs.get(&nomination.job) {
                amounts.add_placements(index, job.team, &nomination.members);
            }
        }
        for (id, members) in starts.chain(promised.into_iter().map(|found| (found.job, found.members))) {
            let Some(job) = index.jobs.get(&id) else { continue };
            for placement in &members {
                bookings.add(placement.node, &placement.gpus, &job.shape);
            }
        }
        Self { bookings, amounts }
    }
}

/// A gang is wanted if it is wanted as a whole; of surplus members, each must be.
fn is_wanted(
    index: &Index<'_>,
    settled: &Settled,
    reclaim: &Reclaim,
    eviction: &Eviction,
    evictor: &Job,
) -> bool {
    let victim = index.jobs[&eviction.job];
    let members: Vec<&Member> =
        victim.members.iter().filter(|member| eviction.members.contains(&member.index)).collect();
    let groups: Vec<Vec<&Member>> = if eviction.surplus_only {
        members.into_iter().map(|member| vec![member]).collect()
    } else {
        vec![members]
    };
    // Who moves keeps its quota: only its place can be wanted.
    if eviction.cause == EvictionCause::Consolidation {
        return groups.iter().all(|group| by_place(index, settled, victim, group));
    }
    groups.iter().all(|group| {
        by_place(index, settled, victim, group)
            || by_quota(index, settled, reclaim, evictor, victim, group)
            || by_other_rules(index, evictor, victim, eviction.cause)
            || (victim.team == evictor.team && by_right(index, settled, reclaim, evictor, group))
    })
}

fn by_place(index: &Index<'_>, settled: &Settled, victim: &Job, group: &[&Member]) -> bool {
    let mut bookings = settled.bookings.clone();
    for member in group {
        bookings.add(member.node, &member.gpus, &victim.shape);
    }
    !bookings.excess(index, "wanted").is_empty()
}

fn by_quota(
    index: &Index<'_>,
    settled: &Settled,
    reclaim: &Reclaim,
    evictor: &Job,
    victim: &Job,
    group: &[&Member],
) -> bool {
    let guarantees = Guarantees::new(index, reclaim.pool);
    let mut amounts = settled.amounts.clone();
    for member in group {
        amounts.add(index, victim.team, reclaim.pool, held_by(member));
    }
    let over_cap = index
        .chain(evictor.team)
        .into_iter()
        .any(|level| guarantees.cap(index, level).is_some_and(|cap| amounts.all(level, reclaim.pool) > cap));
    over_cap || guarantees.may_be_over(index, &amounts)
}

/// With its own team's victim kept, the evictor would be on loan: it could not have made a start of this
/// plan, or a promised one, give way to it. Such a start is taken back without an eviction.
fn by_right(
    index: &Index<'_>,
    settled: &Settled,
    reclaim: &Reclaim,
    evictor: &Job,
    group: &[&Member],
) -> bool {
    let guarantees = Guarantees::new(index, reclaim.pool);
    let with = settled.amounts.all(evictor.team, reclaim.pool);
    let kept: MilliGpu = group.iter().map(|member| held_by(member)).sum();
    with <= guarantees.high(evictor.team) && with + kept > guarantees.low(evictor.team)
}

/// Limits that are not about GPUs: the queue's, and room inside the guarantee for what may not borrow.
fn by_other_rules(index: &Index<'_>, evictor: &Job, victim: &Job, cause: EvictionCause) -> bool {
    if cause != EvictionCause::Preemption {
        return false;
    }
    let queue = index.queues.get(&evictor.queue);
    let limited = queue.is_some_and(|queue| {
        queue.max_running_jobs.is_some()
            || queue.max_running_jobs_per_user.is_some()
            || queue.max_running_gpus.is_some()
    });
    let inside_only = protected_members(evictor) > 0 || !index.rules(evictor).may_borrow;
    (limited && evictor.queue == victim.queue) || inside_only
}
