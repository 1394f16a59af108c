//! A submission that is only imagined: admitted like any other, and never kept.

use super::admit::{Admitted, admit, look_up};
use super::body::SubmitJob;
use super::keep::refused;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Code, Problem, Result};
use chrono::{DateTime, Utc};
use reeve_core::approval::Scope;
use reeve_core::id::{JobId, QueueId, TeamId, UserId};
use reeve_core::job_spec::RawJob;
use reeve_core::priority::PriorityClass;
use reeve_core::schedule::snapshot::Job;

/// The job as it would stand in line. `at` comes before the pointers of its faults.
pub(crate) async fn job(
    app: &AppState,
    caller: &Caller,
    body: SubmitJob,
    at: &str,
    now: DateTime<Utc>,
) -> Result<Job> {
    let raw = RawJob::from(body);
    if !raw.depends_on.is_empty() {
        let detail = "a job that waits for others stands in no line yet: leave depends_on out, and what is told is what would \
            happen once they have ended";
        return Err(Problem::new(Code::InvalidBody).error(
            format!("{at}/depends_on"),
            "cannot_be_imagined",
            detail,
        ));
    }
    let facts = look_up(app, &[&raw]).await?;
    let admitted = admit(&facts, &caller.actor, vec![raw], |_| at.to_owned()).map_err(refused)?.remove(0);
    Ok(pending(admitted, caller.actor.id, now))
}

fn pending(admitted: Admitted, user: UserId, now: DateTime<Utc>) -> Job {
    let level = admitted.raise.as_ref().and_then(|raise| raise.level.parse::<PriorityClass>().ok());
    let level = level.map(PriorityClass::value);
    let beyond = admitted.raise.as_ref().is_some_and(|raise| raise.scope == Scope::Platform.as_str());
    let (own, spec) = (admitted.priority.value(), admitted.spec);
    Job {
        id: JobId::mint(now),
        name: spec.name,
        team: TeamId(admitted.team.id),
        queue: QueueId(admitted.queue.id),
        user,
        kind: spec.kind,
        priority: level.filter(|_| beyond).unwrap_or(own).max(own),
        team_priority: level,
        submitted_at: now,
        shape: spec.shape,
        min_replicas: spec.min_replicas,
        max_replicas: spec.max_replicas,
        pools: admitted.pools,
        gpu_model: spec.gpu_model,
        labels: spec.node_labels,
        require_topology: spec.require_topology,
        prefer_topology: spec.prefer_topology,
        nvlink: spec.nvlink,
        rdma: spec.rdma,
        time_limit_secs: spec.time_limit_secs,
        preemptible: spec.preemptible,
        idle: false,
        never_evict: false,
        evict_others: spec.evict_others,
        requeue: spec.requeue,
        checkpoint: spec.checkpoint,
        last_checkpoint_at: None,
        run_number: 0,
        evictions_in_last_day: 0,
        held: spec.hold,
        members: Vec::new(),
    }
}
