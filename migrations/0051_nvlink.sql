-- Whether a member's GPUs must lie in one NVLink domain.

alter table jobs add column nvlink text not null default 'preferred'
    constraint jobs_nvlink_check check (nvlink in ('preferred', 'required'));

drop trigger jobs_note_changed on jobs;
-- All that the planner reads of a job; not its explanation, which the planner writes.
create trigger jobs_note_changed after update on jobs for each row when (
    (old.state in ('queued', 'starting', 'running', 'leaving'), old.name, old.team_id, old.queue_id, old.user_id,
     old.kind, old.priority_class, old.submitted_at, old.gpus, old.gpu_milli, old.gpu_memory_mib, old.cpu_milli,
     old.memory_mib, old.min_replicas, old.max_replicas, old.pool_ids, old.gpu_model, old.node_labels,
     old.require_topology, old.prefer_topology, old.nvlink, old.rdma, old.time_limit_secs, old.preemptible, old.evict_others,
     old.requeue, old.checkpoint, old.last_checkpoint_at, old.run_number, old.held)
    is distinct from
    (new.state in ('queued', 'starting', 'running', 'leaving'), new.name, new.team_id, new.queue_id, new.user_id,
     new.kind, new.priority_class, new.submitted_at, new.gpus, new.gpu_milli, new.gpu_memory_mib, new.cpu_milli,
     new.memory_mib, new.min_replicas, new.max_replicas, new.pool_ids, new.gpu_model, new.node_labels,
     new.require_topology, new.prefer_topology, new.nvlink, new.rdma, new.time_limit_secs, new.preemptible, new.evict_others,
     new.requeue, new.checkpoint, new.last_checkpoint_at, new.run_number, new.held)
    or (old.reason_hash is not null and new.reason_hash is null)
) execute function note_changed_job();
