//! A world planned until nothing changes any more.

use crate::id::JobId;
use crate::reason::Explanation;
use crate::scenario::cluster::Cluster;
use crate::schedule::plan;
use crate::schedule::plan::{Eviction, Loan, Plan};
use crate::schedule::snapshot::Snapshot;
use std::collections::{BTreeMap, BTreeSet};

/// Plans made at most: each bound is a promise about time. Evictions end (product rule 4.8) long before.
pub const MOST_CYCLES: u32 = 20;

/// Where a world comes to rest.
#[derive(Debug, Clone)]
pub struct Settled {
    pub snapshot: Snapshot,
    /// Jobs that the first plan starts: nobody has to leave for them.
    pub started_at_once: BTreeSet<JobId>,
    /// Evictions that the plans decided, each with who asked.
    pub evictions: Vec<(Eviction, Option<JobId>)>,
    /// Why those who still wait do.
    pub waiting: BTreeMap<JobId, Explanation>,
    pub loans: Vec<Loan>,
    /// False: it was still changing after [`MOST_CYCLES`] plans.
    pub at_rest: bool,
}

/// Plans, carries out, lets the leaving leave, and plans again.
#[must_use]
pub fn settle(snapshot: Snapshot) -> Settled {
    let mut world = Cluster::new(snapshot);
    let mut evictions = Vec::new();
    let mut started_at_once = BTreeSet::new();
    let mut last = Plan::default();
    for cycle in 0..MOST_CYCLES {
        last = plan(&world.snapshot);
        for reclaim in &last.reclaims {
            evictions.extend(reclaim.evictions.iter().map(|eviction| (eviction.clone(), reclaim.evictor)));
        }
        if cycle == 0 {
            started_at_once = last.starts.iter().map(|start| start.job).collect();
        }
        let quiet = last.starts.is_empty() && last.reclaims.is_empty() && last.dropped.is_empty();
        if world.apply(&last).is_err() {
            break;
        }
        let leaving = leaving(&world.snapshot);
        if quiet && leaving.is_empty() {
            return rest(world.snapshot, last, started_at_once, evictions, true);
        }
        for job in leaving {
            world.vacate(job);
        }
    }
    rest(world.snapshot, last, started_at_once, evictions, false)
}

fn leaving(snapshot: &Snapshot) -> Vec<JobId> {
    let leaves =
        |job: &&crate::schedule::snapshot::Job| job.members.iter().any(|member| member.leaving.is_some());
    snapshot.jobs.iter().filter(leaves).map(|job| job.id).collect()
}

fn rest(
    snapshot: Snapshot,
    last: Plan,
    started_at_once: BTreeSet<JobId>,
    evictions: Vec<(Eviction, Option<JobId>)>,
    at_rest: bool,
) -> Settled {
    let waiting = last.waiting.into_iter().collect();
    Settled { snapshot, started_at_once, evictions, waiting, loans: last.loans, at_rest }
}
