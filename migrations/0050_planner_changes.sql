-- What has changed of that which the planner reads: a server that keeps its snapshot from one plan to the next reads
-- these rows instead of everything. Whoever adds a column or a table to the snapshot adds it here.
--
-- Written in the transaction of the change by triggers, so that nothing and nobody can forget it. Unlogged: a crash
-- ends all sessions, and with them all that was kept.

create unlogged table planner_changes (
    xid xid8 not null default pg_current_xact_id(),
    -- settings = policy, pools, teams, quotas, queues; reasons = explanations, by the session in `ids`.
    subject text not null constraint planner_changes_subject_check
        check (subject in ('jobs', 'nodes', 'settings', 'calendar', 'rebalances', 'reasons')),
    ids uuid[] not null default '{}'
);
create index planner_changes_xid_idx on planner_changes (xid);

-- Changes of transactions before this one may be gone: whoever last looked before it reads everything.
create unlogged table planner_changes_pruned (
    one boolean primary key default true constraint planner_changes_pruned_one_check check (one),
    below xid8 not null
);

create function note_planner_change(subject text, changed uuid[]) returns void language sql as $$
    insert into planner_changes (subject, ids) select subject, changed where cardinality(changed) > 0
$$;

-- Jobs: the rows themselves, and what hangs on them.

create function note_inserted_jobs() returns trigger language plpgsql as $$
begin
    perform note_planner_change('jobs', (select array_agg(id) from changed));
    return null;
end $$;
create function note_changed_job() returns trigger language plpgsql as $$
begin
    insert into planner_changes (subject, ids) values ('jobs', array[coalesce(new.id, old.id)]);
    return null;
end $$;
create trigger jobs_note_inserted after insert on jobs referencing new table as changed
    for each statement execute function note_inserted_jobs();
-- All that the planner reads of a job; not its explanation, which the planner writes.
create trigger jobs_note_changed after update on jobs for each row when (
    (old.state in ('queued', 'starting', 'running', 'leaving'), old.name, old.team_id, old.queue_id, old.user_id,
     old.kind, old.priority_class, old.submitted_at, old.gpus, old.gpu_milli, old.gpu_memory_mib, old.cpu_milli,
     old.memory_mib, old.min_replicas, old.max_replicas, old.pool_ids, old.gpu_model, old.node_labels,
     old.require_topology, old.prefer_topology, old.rdma, old.time_limit_secs, old.preemptible, old.evict_others,
     old.requeue, old.checkpoint, old.last_checkpoint_at, old.run_number, old.held)
    is distinct from
    (new.state in ('queued', 'starting', 'running', 'leaving'), new.name, new.team_id, new.queue_id, new.user_id,
     new.kind, new.priority_class, new.submitted_at, new.gpus, new.gpu_milli, new.gpu_memory_mib, new.cpu_milli,
     new.memory_mib, new.min_replicas, new.max_replicas, new.pool_ids, new.gpu_model, new.node_labels,
     new.require_topology, new.prefer_topology, new.rdma, new.time_limit_secs, new.preemptible, new.evict_others,
     new.requeue, new.checkpoint, new.last_checkpoint_at, new.run_number, new.held)
    or (old.reason_hash is not null and new.reason_hash is null)
) execute function note_changed_job();
create trigger jobs_note_deleted after delete on jobs for each row execute function note_changed_job();

create function note_jobs_of_rows() returns trigger language plpgsql as $$
begin
    perform note_planner_change('jobs', (select array_agg(distinct job_id) from changed));
    return null;
end $$;
create function note_job_of_row() returns trigger language plpgsql as $$
begin
    insert into planner_changes (subject, ids) values ('jobs', array[coalesce(new.job_id, old.job_id)]);
    return null;
end $$;
-- What a member holds is inserted with it and never changes.
create trigger members_note_inserted after insert on members referencing new table as changed
    for each statement execute function note_jobs_of_rows();
create trigger members_note_changed after update on members for each row when (
    (old.run_id, old.member, old.job_id, old.run_number, old.node_id, old.placed_at, old.stop_order is null,
     old.stop_cause, old.leave_by, old.released_at)
    is distinct from
    (new.run_id, new.member, new.job_id, new.run_number, new.node_id, new.placed_at, new.stop_order is null,
     new.stop_cause, new.leave_by, new.released_at)
) execute function note_job_of_row();
create trigger members_note_deleted after delete on members for each row execute function note_job_of_row();

create function note_evictions() returns trigger language plpgsql as $$
begin
    perform note_planner_change('jobs', (select array_agg(distinct job_id) from changed));
    insert into planner_changes (subject) select 'rebalances' where exists (select from changed where cause = 'rebalance');
    return null;
end $$;
create trigger evictions_note_inserted after insert on evictions referencing new table as changed
    for each statement execute function note_evictions();
create trigger evictions_note_changed after update on evictions for each row when (
    (old.reclaim_id, old.job_id, old.run_number, old.members, old.surplus_only, old.outcome = 'leaving', old.notified_at)
    is distinct from
    (new.reclaim_id, new.job_id, new.run_number, new.members, new.surplus_only, new.outcome = 'leaving', new.notified_at)
) execute function note_job_of_row();

-- A promise that ends is nobody's reason to leave any more. Promises themselves are read anew by every plan.
create function note_victims_of_reclaim() returns trigger language plpgsql as $$
begin
    perform note_planner_change('jobs', (select array_agg(distinct job_id) from evictions
                                         where reclaim_id = new.id and outcome = 'leaving'));
    return null;
end $$;
create trigger reclaims_note_changed after update on reclaims for each row
    when (old.state is distinct from new.state) execute function note_victims_of_reclaim();

-- Nodes and their GPUs: not what is free there, which the planner counts itself.

create function note_changed_node() returns trigger language plpgsql as $$
begin
    insert into planner_changes (subject, ids) values ('nodes', array[coalesce(new.id, old.id)]);
    return null;
end $$;
create function note_node_of_row() returns trigger language plpgsql as $$
begin
    insert into planner_changes (subject, ids) values ('nodes', array[coalesce(new.node_id, old.node_id)]);
    return null;
end $$;
create trigger nodes_note_inserted after insert on nodes for each row execute function note_changed_node();
create trigger nodes_note_changed after update on nodes for each row when (
    (old.name, old.pool_id, old.state, old.cpu_milli, old.memory_mib, old.labels, old.topology, old.nvlink, old.rdma,
     old.datasets)
    is distinct from
    (new.name, new.pool_id, new.state, new.cpu_milli, new.memory_mib, new.labels, new.topology, new.nvlink, new.rdma,
     new.datasets)
) execute function note_changed_node();
create trigger gpus_note_inserted after insert on gpus for each row execute function note_node_of_row();
create trigger gpus_note_changed after update on gpus for each row when (
    (old.node_id, old.index, old.model, old.memory_mib, old.health)
    is distinct from
    (new.node_id, new.index, new.model, new.memory_mib, new.health)
) execute function note_node_of_row();
create trigger node_leases_note_changed after update on node_leases for each row
    when ((old.stray_members > 0) is distinct from (new.stray_members > 0)) execute function note_node_of_row();

-- Few rows that change seldom: all of them are read again.

create function note_settings() returns trigger language plpgsql as $$
begin
    insert into planner_changes (subject) values ('settings');
    return null;
end $$;
create trigger policies_note_changed after insert or update or delete on policies
    for each row execute function note_settings();
create trigger teams_note_changed after insert or update or delete on teams
    for each row execute function note_settings();
create trigger quotas_note_changed after insert or update or delete on quotas
    for each row execute function note_settings();
create trigger queues_note_changed after insert or update or delete on queues
    for each row execute function note_settings();
create trigger pools_note_inserted after insert or delete on pools
    for each row execute function note_settings();
create trigger pools_note_changed after update on pools for each row
    when ((old.slug, old.state) is distinct from (new.slug, new.state)) execute function note_settings();

create function note_calendar() returns trigger language plpgsql as $$
begin
    insert into planner_changes (subject) values ('calendar');
    return null;
end $$;
create trigger reservations_note_changed after insert or update or delete on reservations
    for each row execute function note_calendar();
create trigger maintenance_windows_note_changed after insert or update or delete on maintenance_windows
    for each row execute function note_calendar();
create trigger maintenance_window_nodes_note_changed after insert or update or delete on maintenance_window_nodes
    for each row execute function note_calendar();
