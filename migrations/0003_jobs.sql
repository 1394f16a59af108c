-- Jobs, their runs and members, and what the planner has said of them.

create table jobs (
    id uuid primary key,
    team_id uuid not null references teams (id),
    queue_id uuid not null references queues (id),
    user_id uuid not null references users (id),
    name text not null constraint jobs_name_check check (char_length(name) between 1 and 200),
    kind text not null constraint jobs_kind_check
        check (kind in ('training', 'inference', 'experiment', 'evaluation', 'batch')),
    priority_class text not null constraint jobs_priority_class_check
        check (priority_class in ('scavenger', 'low', 'normal', 'high', 'critical')),
    state text not null constraint jobs_state_check
        check (state in ('queued', 'starting', 'running', 'leaving', 'succeeded', 'failed', 'cancelled')),
    held boolean not null default false,
    -- What each member asks for.
    gpus integer not null constraint jobs_gpus_check check (gpus between 0 and 1024),
    -- A share of each of `gpus` devices; null = whole GPUs.
    gpu_milli bigint constraint jobs_gpu_milli_check check (gpu_milli between 1 and 999),
    gpu_memory_mib bigint constraint jobs_gpu_memory_mib_check check (gpu_memory_mib >= 0),
    cpu_milli bigint not null constraint jobs_cpu_milli_check check (cpu_milli >= 0),
    memory_mib bigint not null constraint jobs_memory_mib_check check (memory_mib >= 0),
    min_replicas integer not null constraint jobs_min_replicas_check check (min_replicas between 1 and 10000),
    max_replicas integer not null constraint jobs_max_replicas_check check (max_replicas between min_replicas and 10000),
    pool_ids uuid[] not null default '{}',
    gpu_model text,
    node_labels jsonb not null default '{}',
    require_topology text,
    prefer_topology text,
    rdma boolean not null default false,
    time_limit_secs bigint constraint jobs_time_limit_secs_check check (time_limit_secs > 0),
    preemptible boolean not null default true,
    evict_others boolean not null default true,
    requeue boolean not null default true,
    checkpoint text not null constraint jobs_checkpoint_check check (checkpoint in ('none', 'on_signal', 'periodic')),
    checkpoint_signal text not null default 'USR1',
    max_failures integer not null default 0 constraint jobs_max_failures_check check (max_failures between 0 and 100),
    -- How to start it: command, env, working directory. Never read by the planner.
    command text[] not null,
    env jsonb not null default '{}',
    working_dir text,
    -- People's own labels, for filters and bills.
    labels jsonb not null default '{}',
    -- Its history so far.
    run_number integer not null default 0,
    failure_count integer not null default 0,
    eviction_count integer not null default 0,
    last_checkpoint_at timestamptz,
    submitted_at timestamptz not null,
    started_at timestamptz,
    finished_at timestamptz,
    -- How it ended, in a word: exit_code, signal, start_error, timed_out, cancelled, …; and the detail.
    end_cause text,
    end_detail text,
    -- Why it waits: the planner's typed explanation. Null while placed or final.
    reason_code text constraint jobs_reason_code_check check (reason_code in (
        'invalid', 'never_fits', 'over_cap', 'queue_held', 'awaiting_approval', 'budget_exhausted',
        'outside_time_window', 'no_quota', 'fragmented', 'topology', 'waiting_for_evictions', 'behind_others',
        'search_budget_exhausted')),
    reason jsonb,
    reason_at timestamptz,
    -- Of `reason` without the position: says whether there is news without reading it.
    reason_hash bigint,
    version bigint not null default 1,
    updated_at timestamptz not null
);
-- What the planner loads, and what people list.
create index jobs_live_idx on jobs (state) where state in ('queued', 'starting', 'running', 'leaving');
create index jobs_team_id_id_idx on jobs (team_id, id desc);
create index jobs_queue_id_id_idx on jobs (queue_id, id desc);
create index jobs_state_id_idx on jobs (state, id desc);

create table runs (
    id uuid primary key,
    job_id uuid not null references jobs (id),
    number integer not null,
    state text not null constraint runs_state_check
        check (state in ('starting', 'running', 'leaving', 'succeeded', 'failed', 'cancelled', 'evicted', 'lost')),
    resume boolean not null default false,
    pool_id uuid references pools (id),
    -- Why it is leaving, and until when it may take.
    leave_cause text,
    leave_by timestamptz,
    placed_at timestamptz not null,
    started_at timestamptz,
    ended_at timestamptz,
    exit_code integer,
    signal text,
    end_detail text,
    unique (job_id, number)
);
create index runs_live_idx on runs (job_id) where ended_at is null;

create table members (
    run_id uuid not null references runs (id),
    member integer not null,
    job_id uuid not null,
    run_number integer not null,
    node_id uuid not null references nodes (id),
    state text not null constraint members_state_check
        check (state in ('assigned', 'starting', 'running', 'leaving', 'ended')),
    -- Set when the member was told to go: what the agent is asked for.
    stop_order text constraint members_stop_order_check check (stop_order in ('leave', 'stop')),
    stop_cause text,
    leave_by timestamptz,
    cpu_milli bigint not null,
    memory_mib bigint not null,
    pid bigint,
    placed_at timestamptz not null,
    started_at timestamptz,
    checkpointed_at timestamptz,
    ended_at timestamptz,
    -- When its GPUs, cpu and memory were given back: at its confirmed end; for a member that finished before the rest of
    -- its gang, with the gang.
    released_at timestamptz,
    -- What its end means for its gang.
    end_kind text constraint members_end_kind_check
        check (end_kind in ('success', 'failure', 'timed_out', 'left', 'lost')),
    exit_code integer,
    signal text,
    end_detail text,
    -- Bytes of log that it has written, as its agent says.
    log_bytes bigint,
    primary key (run_id, member),
    constraint members_ended_check check ((state = 'ended') = (end_kind is not null)),
    constraint members_released_check check (released_at is null or state = 'ended')
);
create index members_live_idx on members (node_id) where state <> 'ended';
create index members_held_idx on members (run_id) where released_at is null;
create index members_job_id_idx on members (job_id, run_number);

-- Which part of which GPU a live or past member held.
create table member_gpus (
    run_id uuid not null,
    member integer not null,
    gpu_id uuid not null references gpus (id),
    milli bigint not null constraint member_gpus_milli_check check (milli between 1 and 1000),
    memory_mib bigint not null constraint member_gpus_memory_mib_check check (memory_mib >= 0),
    primary key (run_id, member, gpu_id),
    foreign key (run_id, member) references members (run_id, member)
);

-- Victims chosen together for one asking job. While it waits, it is the job's nomination.
create table reclaims (
    id uuid primary key,
    pool_id uuid not null references pools (id),
    -- Null: nobody asked (a drain, a lowered quota).
    evictor_job_id uuid references jobs (id),
    evictor_team_id uuid references teams (id),
    state text not null constraint reclaims_state_check check (state in ('waiting', 'done', 'dropped', 'timed_out')),
    end_reason text,
    -- The placement promised to the asking job, as the planner gave it.
    nomination jsonb not null default '[]',
    created_at timestamptz not null,
    expires_at timestamptz not null,
    ended_at timestamptz
);
create unique index reclaims_waiting_key on reclaims (evictor_job_id) where state = 'waiting';
create index reclaims_pool_id_idx on reclaims (pool_id, id desc);

create table evictions (
    id uuid primary key,
    reclaim_id uuid not null references reclaims (id),
    job_id uuid not null references jobs (id),
    run_number integer not null,
    team_id uuid not null references teams (id),
    members integer[] not null,
    surplus_only boolean not null,
    gpu_milli bigint not null,
    cause text not null constraint evictions_cause_check check (cause in (
        'reclaim', 'preemption', 'borrow_preemption', 'rebalance', 'idle', 'drain', 'quota_lowered', 'operator')),
    outcome text not null default 'leaving' constraint evictions_outcome_check
        check (outcome in ('leaving', 'requeued', 'cancelled', 'ended_itself', 'shrunk', 'node_lost')),
    -- Rule, why this victim, shares before and after: the planner's record, whole.
    record jsonb not null,
    notified_at timestamptz not null,
    leave_by timestamptz not null,
    checkpointed_at timestamptz,
    vacated_at timestamptz
);
create index evictions_reclaim_id_idx on evictions (reclaim_id);
create index evictions_job_id_idx on evictions (job_id, id desc);
create index evictions_notified_at_idx on evictions (notified_at);
create index evictions_leaving_idx on evictions (job_id) where outcome = 'leaving';

-- Log text as the agents send it, in chunks; the oldest of a member beyond the limit are dropped.
create table log_chunks (
    job_id uuid not null,
    run_number integer not null,
    member integer not null,
    start_offset bigint not null,
    bytes bytea not null,
    created_at timestamptz not null,
    primary key (job_id, run_number, member, start_offset)
);
alter table log_chunks alter column bytes set storage external;
