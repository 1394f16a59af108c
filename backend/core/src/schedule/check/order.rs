//! Order of service, where the rules leave no choice.

use super::Violation;
use super::index::Index;
use crate::id::JobId;
use crate::queue::QueueOrder;
use crate::reason::ReasonCode;
use crate::schedule::plan::Plan;
use crate::schedule::snapshot::Job;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn judge(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    let started: BTreeSet<JobId> =
        plan.starts.iter().filter(|start| !start.grow).map(|start| start.job).collect();
    if started.is_empty() {
        return;
    }
    let reasons: BTreeMap<JobId, ReasonCode> =
        plan.waiting.iter().map(|(job, why)| (*job, why.main.code)).collect();
    for later in started.iter().map(|id| index.jobs[id]) {
        // A nominated job takes the space that was promised to it; nobody is overtaken by that.
        if index.snapshot.nominations.iter().any(|nomination| nomination.job == later.id) {
            continue;
        }
        let strict =
            index.queues.get(&later.queue).is_some_and(|queue| queue.order == QueueOrder::StrictFifo);
        let ahead = index.snapshot.jobs.iter().filter(|job| {
            job.queue == later.queue
                && job.is_pending()
                && !started.contains(&job.id)
                && stands_before(job, later)
        });
        for earlier in ahead {
            let blocks = reasons.get(&earlier.id).is_some_and(|code| !is_out_of_line(*code));
            if strict && blocks && !earlier.held && index.window_is_open(earlier) {
                let detail = format!("job {} starts before {} in a strict queue", later.id, earlier.id);
                found.push(Violation::new("head_overtaken", detail));
            } else if blocks && asks_the_same(earlier, later) && !is_nominated(earlier, index, plan) {
                let detail = format!("job {} starts before {}, which asks the same", later.id, earlier.id);
                found.push(Violation::new("twin_overtaken", detail));
            }
        }
    }
}

fn stands_before(left: &Job, right: &Job) -> bool {
    let key = |job: &Job| (Reverse(job.priority_in_team()), job.submitted_at, job.id);
    key(left) < key(right)
}

/// Waits for something that no turn in the queue can give: it blocks nobody.
fn is_out_of_line(code: ReasonCode) -> bool {
    !matches!(
        code,
        ReasonCode::NoQuota
            | ReasonCode::Fragmented
            | ReasonCode::Topology
            | ReasonCode::WaitingForEvictions
            | ReasonCode::BehindOthers
    )
}

fn is_nominated(job: &Job, index: &Index<'_>, plan: &Plan) -> bool {
    let before = index.snapshot.nominations.iter().any(|nomination| nomination.job == job.id);
    before || plan.reclaims.iter().any(|reclaim| reclaim.evictor == Some(job.id))
}

fn asks_the_same(left: &Job, right: &Job) -> bool {
    let ask = |job: &Job| {
        (
            (job.team, job.kind, job.shape, job.min_replicas, job.max_replicas, job.preemptible, job.user),
            (
                job.gpu_model.clone(),
                job.labels.clone(),
                job.pools.clone(),
                job.held,
                (job.rdma, job.nvlink),
                job.time_limit_secs,
            ),
            (job.require_topology.clone(), job.prefer_topology.clone(), job.time_limit_secs),
        )
    };
    ask(left) == ask(right)
}
