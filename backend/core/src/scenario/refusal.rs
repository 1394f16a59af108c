//! What the API refuses at submit, for scenarios: those checks that need nothing but the job, its team,
//! its queue and the cluster's words.
//!
//! A kind's default ceiling is enforced here only where the file sets one (for the team or the kind): a
//! story about priorities needs no approvals unless it is about them.

use super::format::JobSpec;
use crate::job::GpuAsk;
use crate::kind::Kind;
use crate::priority::{Priority, PriorityClass};
use crate::queue::QueueState;
use crate::reason::ReasonCode;
use crate::schedule::snapshot::{Queue, Snapshot};

/// A refused submission: its reason's code and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: ReasonCode,
    pub(super) text: String,
}

pub(super) struct Facts<'a> {
    pub(super) priority: Priority,
    pub(super) ceiling: Option<PriorityClass>,
    pub(super) queue: Option<&'a Queue>,
    pub(super) kinds: Option<&'a Vec<Kind>>,
    pub(super) snapshot: &'a Snapshot,
}

pub(super) fn refusal(spec: &JobSpec, facts: &Facts<'_>) -> Option<Refusal> {
    let refuse = |code, text: String| Some(Refusal { code, text });
    if let Some(ceiling) = facts.ceiling
        && facts.priority > ceiling.value()
    {
        let text =
            format!("priority {} is above the ceiling {ceiling}: ask for an escalation", facts.priority.0);
        return refuse(ReasonCode::AwaitingApproval, text);
    }
    if spec.max_replicas == 0 || spec.min_replicas == 0 {
        return refuse(ReasonCode::Invalid, "a job has at least one replica".into());
    }
    if matches!(spec.gpus, GpuAsk::Share { devices: 0, .. }) {
        return refuse(ReasonCode::Invalid, "a share sits on at least one device".into());
    }
    for level in [&spec.require_topology, &spec.prefer_topology].into_iter().flatten() {
        if !facts.snapshot.nodes.iter().any(|node| level == "node" || node.topology.contains_key(level)) {
            return refuse(ReasonCode::Invalid, format!("no topology level `{level}`"));
        }
    }
    if let Some(queue) = facts.queue.filter(|queue| queue.state == QueueState::Draining) {
        return refuse(ReasonCode::QueueHeld, format!("queue `{}` takes no new jobs", queue.slug));
    }
    if facts.kinds.is_some_and(|kinds| !kinds.contains(&spec.kind)) {
        return refuse(ReasonCode::Invalid, format!("the queue does not take {} jobs", spec.kind));
    }
    None
}
