//! What a plan would make of a state; the judge's own copy of that arithmetic.

use super::Violation;
use super::index::Index;
use crate::id::{JobId, ReclaimId};
use crate::schedule::plan::Plan;
use crate::schedule::snapshot::{Leaving, Member, Nomination, Snapshot};
use std::collections::{BTreeMap, BTreeSet};

/// False when the plan speaks of something that is not there: nothing else can be judged then.
pub(super) fn names_exist(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) -> bool {
    let mut jobs: Vec<JobId> = plan.starts.iter().map(|start| start.job).collect();
    jobs.extend(plan.reclaims.iter().filter_map(|reclaim| reclaim.evictor));
    jobs.extend(plan.reclaims.iter().flat_map(|reclaim| &reclaim.evictions).map(|eviction| eviction.job));
    jobs.extend(plan.waiting.iter().map(|(job, _)| *job));
    for job in jobs.iter().filter(|job| !index.jobs.contains_key(job)) {
        found.push(Violation::new("unknown_job", format!("the plan speaks of job {job}")));
    }
    let starts = plan.starts.iter().flat_map(|start| &start.members);
    for placement in starts.chain(plan.reclaims.iter().flat_map(|reclaim| &reclaim.nomination)) {
        let known = index.nodes.contains_key(&placement.node)
            && placement.gpus.iter().all(|slice| index.gpus.contains_key(&slice.gpu));
        if !known {
            found.push(Violation::new("unknown_gpu", format!("a placement on node {}", placement.node)));
        }
    }
    found.is_empty()
}

pub(super) fn after(snapshot: &Snapshot, plan: &Plan) -> Snapshot {
    let mut after = snapshot.clone();
    let mut leaving: BTreeMap<(JobId, u32), Leaving> = BTreeMap::new();
    for reclaim in &plan.reclaims {
        for eviction in &reclaim.evictions {
            for &member in &eviction.members {
                let leaves = Leaving {
                    leave_by: eviction.leave_by,
                    cause: Some(eviction.cause),
                    evictor: reclaim.evictor,
                };
                leaving.insert((eviction.job, member), leaves);
            }
        }
    }
    let mut joining: BTreeMap<JobId, Vec<Member>> = BTreeMap::new();
    for start in &plan.starts {
        joining.entry(start.job).or_default().extend(start.members.iter().map(|placement| Member {
            index: placement.index,
            node: placement.node,
            gpus: placement.gpus.clone(),
            started_at: snapshot.now,
            leaving: None,
        }));
    }
    for job in &mut after.jobs {
        for member in &mut job.members {
            if let Some(leaves) = leaving.get(&(job.id, member.index)) {
                member.leaving = Some(leaves.clone());
            }
        }
        job.members.extend(joining.remove(&job.id).unwrap_or_default());
    }
    after.nominations = nominations(snapshot, plan);
    after
}

/// Space promised once the plan is applied.
pub(super) fn nominations(snapshot: &Snapshot, plan: &Plan) -> Vec<Nomination> {
    let over: BTreeSet<JobId> = plan
        .dropped
        .iter()
        .map(|dropped| dropped.job)
        .chain(plan.starts.iter().filter(|start| !start.grow).map(|start| start.job))
        .collect();
    let kept = snapshot.nominations.iter().filter(|nomination| !over.contains(&nomination.job)).cloned();
    let new = plan.reclaims.iter().filter_map(|reclaim| {
        reclaim.evictor.map(|job| Nomination {
            job,
            reclaim: ReclaimId(uuid::Uuid::nil()),
            members: reclaim.nomination.clone(),
            created_at: snapshot.now,
            expires_at: reclaim.expires_at,
        })
    });
    kept.chain(new).collect()
}
