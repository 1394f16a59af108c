//! Two settled worlds compared: what the change would bring, and what it would take.

use super::settle::Settled;
use crate::id::{JobId, NodeId, PoolId, TeamId};
use crate::reason::Explanation;
use crate::schedule::plan::Eviction;
use crate::schedule::snapshot::{Job, Snapshot};
use crate::units::MilliGpu;
use std::collections::{BTreeMap, BTreeSet};

/// A job that runs in one world and waits in the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedJob {
    pub job: JobId,
    pub gpus: MilliGpu,
    pub nodes: Vec<NodeId>,
    pub pool: Option<PoolId>,
    /// Nobody has to leave for it.
    pub at_once: bool,
}

/// A job that is asked to leave in one world only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvictedJob {
    pub eviction: Eviction,
    pub evictor: Option<JobId>,
    /// It runs again once all has settled, elsewhere or with fewer members.
    pub runs_again: bool,
}

/// What a borrower has of a lender, today and then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoanChange {
    pub pool: PoolId,
    pub borrower: TeamId,
    pub lender: Option<TeamId>,
    pub before: MilliGpu,
    pub after: MilliGpu,
}

/// A job that waits for another reason than today, or that starts to wait, or no longer does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonChange {
    pub job: JobId,
    pub before: Option<Explanation>,
    pub after: Option<Explanation>,
}

/// Everything that differs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Would run, and do not without the change.
    pub starts: Vec<StartedJob>,
    /// Would run without the change, and do not with it.
    pub lost_starts: Vec<StartedJob>,
    pub evictions: Vec<EvictedJob>,
    /// Asked to leave today, and not with the change.
    pub spared: Vec<EvictedJob>,
    pub loans: Vec<LoanChange>,
    pub reasons: Vec<ReasonChange>,
}

/// What `then` has that `today` has not, and the other way round.
#[must_use]
pub fn difference(today: &Settled, then: &Settled) -> Difference {
    Difference {
        starts: starts(today, then),
        lost_starts: starts(then, today),
        evictions: evictions(today, then),
        spared: evictions(then, today),
        loans: loans(today, then),
        reasons: reasons(today, then),
    }
}

fn running(snapshot: &Snapshot) -> BTreeMap<JobId, &Job> {
    snapshot.jobs.iter().filter(|job| !job.is_pending()).map(|job| (job.id, job)).collect()
}

/// Jobs that run in `there` and not in `here`.
fn starts(here: &Settled, there: &Settled) -> Vec<StartedJob> {
    let known = running(&here.snapshot);
    let pools: BTreeMap<NodeId, PoolId> =
        there.snapshot.nodes.iter().map(|node| (node.id, node.pool)).collect();
    let started = running(&there.snapshot).into_values().filter(|job| !known.contains_key(&job.id));
    let described = started.map(|job| {
        let nodes: BTreeSet<NodeId> = job.members.iter().map(|member| member.node).collect();
        let slices = job.members.iter().flat_map(|member| &member.gpus);
        StartedJob {
            job: job.id,
            gpus: slices.map(|slice| slice.milli).sum(),
            pool: nodes.first().and_then(|node| pools.get(node).copied()),
            nodes: nodes.into_iter().collect(),
            at_once: there.started_at_once.contains(&job.id),
        }
    });
    described.collect()
}

fn evictions(here: &Settled, there: &Settled) -> Vec<EvictedJob> {
    let key = |(eviction, _): &(Eviction, Option<JobId>)| (eviction.job, eviction.members.clone());
    let known: BTreeSet<_> = here.evictions.iter().map(key).collect();
    let runs = running(&there.snapshot);
    let new = there.evictions.iter().filter(|&entry| !known.contains(&key(entry)));
    new.map(|(eviction, evictor)| EvictedJob {
        eviction: eviction.clone(),
        evictor: *evictor,
        runs_again: runs.contains_key(&eviction.job),
    })
    .collect()
}

fn loans(today: &Settled, then: &Settled) -> Vec<LoanChange> {
    let mut both: BTreeMap<(PoolId, TeamId, Option<TeamId>), (MilliGpu, MilliGpu)> = BTreeMap::new();
    for loan in &today.loans {
        both.entry((loan.pool, loan.borrower, loan.lender)).or_default().0 += loan.milli;
    }
    for loan in &then.loans {
        both.entry((loan.pool, loan.borrower, loan.lender)).or_default().1 += loan.milli;
    }
    let changed = both.into_iter().filter(|(_, (before, after))| before != after);
    changed
        .map(|((pool, borrower, lender), (before, after))| LoanChange {
            pool,
            borrower,
            lender,
            before,
            after,
        })
        .collect()
}

/// Numbers alone are no change of the reason.
fn reasons(today: &Settled, then: &Settled) -> Vec<ReasonChange> {
    let jobs: BTreeSet<JobId> = today.waiting.keys().chain(then.waiting.keys()).copied().collect();
    let main = |why: Option<&Explanation>| why.map(|why| (why.main.code, why.main.detail.clone()));
    let change = |job: JobId| {
        let (before, after) = (today.waiting.get(&job), then.waiting.get(&job));
        (main(before) != main(after)).then(|| ReasonChange {
            job,
            before: before.cloned(),
            after: after.cloned(),
        })
    };
    jobs.into_iter().filter_map(change).collect()
}
