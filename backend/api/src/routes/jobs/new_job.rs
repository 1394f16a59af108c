//! An admitted submission as a row to be kept, and as the view that answers it.

use super::admit::Admitted;
use super::view::{JobView, WarningView};
use crate::refs::{QueueRef, TeamRef, UserRef};
use chrono::{DateTime, Utc};
use reeve_core::id::{JobId, QueueId, TeamId, UserId};
use reeve_core::job::GpuAsk;
use reeve_store::submit::NewJob;
use serde_json::json;

/// The row.
pub(super) fn row(admitted: &Admitted, user: UserId, now: DateTime<Utc>) -> NewJob {
    let spec = &admitted.spec;
    let (gpu_milli, gpu_memory_mib) = match spec.shape.gpus {
        GpuAsk::Share { milli, memory, .. } => (Some(milli.0), Some(memory.0)),
        GpuAsk::None | GpuAsk::Whole { .. } => (None, None),
    };
    NewJob {
        id: JobId::mint(now),
        team_id: TeamId(admitted.team.id),
        queue_id: QueueId(admitted.queue.id),
        user_id: user,
        name: spec.name.clone(),
        kind: spec.kind,
        priority_class: admitted.priority,
        held: spec.hold,
        gpus: spec.shape.gpus.devices(),
        gpu_milli,
        gpu_memory_mib,
        cpu_milli: spec.shape.cpu.0,
        memory_mib: spec.shape.memory.0,
        min_replicas: spec.min_replicas,
        max_replicas: spec.max_replicas,
        pool_ids: admitted.pools.clone(),
        gpu_model: spec.gpu_model.clone(),
        node_labels: spec.node_labels.clone(),
        require_topology: spec.require_topology.clone(),
        prefer_topology: spec.prefer_topology.clone(),
        nvlink: spec.nvlink,
        rdma: spec.rdma,
        time_limit_secs: spec.time_limit_secs,
        preemptible: spec.preemptible,
        evict_others: spec.evict_others,
        requeue: spec.requeue,
        checkpoint: spec.checkpoint,
        checkpoint_signal: spec.checkpoint_signal.clone(),
        max_failures: spec.max_failures,
        command: spec.command.clone(),
        env: spec.env.clone(),
        working_dir: spec.working_dir.clone(),
        labels: spec.labels.clone(),
        depends_on: spec.depends_on.clone(),
        submitted_at: now,
    }
}

/// The reply: the job as it stands in line the moment it is kept.
pub(super) fn view(job: &NewJob, admitted: &Admitted, user: UserRef) -> JobView {
    let small = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
    let team = &admitted.team;
    let warnings = admitted.warnings.iter();
    JobView {
        id: job.id.0,
        name: job.name.clone(),
        team: TeamRef { id: team.id, slug: team.slug.clone(), name: team.name.clone() },
        queue: QueueRef { id: admitted.queue.id, slug: admitted.queue.slug.clone() },
        user,
        kind: job.kind.to_string(),
        priority_class: job.priority_class.to_string(),
        raised_to: admitted.raise.as_ref().map(|raise| raise.level.clone()),
        raised_until: admitted.raise.as_ref().map(|raise| raise.expires_at),
        escalation_id: admitted.raise.as_ref().map(|raise| raise.escalation_id),
        state: "queued".to_owned(),
        held: job.held,
        borrowed_gpus: 0.0,
        gpus: small(job.gpus),
        gpu_milli: job.gpu_milli,
        gpu_memory_mib: job.gpu_memory_mib,
        cpu_milli: job.cpu_milli,
        memory_mib: job.memory_mib,
        replicas: job.min_replicas.into(),
        min_replicas: small(job.min_replicas),
        max_replicas: small(job.max_replicas),
        gpus_total: admitted.spec.shape.gpus.milli().times(job.min_replicas).as_gpus(),
        pools: admitted.pool_slugs.clone(),
        pool: None,
        gpu_model: job.gpu_model.clone(),
        node_labels: json!(job.node_labels),
        require_topology: job.require_topology.clone(),
        prefer_topology: job.prefer_topology.clone(),
        nvlink: job.nvlink.to_string(),
        rdma: job.rdma,
        time_limit_secs: job.time_limit_secs,
        preemptible: job.preemptible,
        evict_others: job.evict_others,
        requeue: job.requeue,
        checkpoint: job.checkpoint.to_string(),
        checkpoint_signal: job.checkpoint_signal.clone(),
        max_failures: small(job.max_failures),
        command: job.command.clone(),
        env: json!(job.env),
        working_dir: job.working_dir.clone(),
        labels: json!(job.labels),
        run_number: 0,
        failure_count: 0,
        eviction_count: 0,
        last_checkpoint_at: None,
        submitted_at: job.submitted_at,
        started_at: None,
        finished_at: None,
        end_cause: None,
        end_detail: None,
        reason: None,
        leave: None,
        version: 1,
        warnings: warnings
            .map(|warning| WarningView { code: warning.code.to_owned(), detail: warning.detail.clone() })
            .collect(),
    }
}
