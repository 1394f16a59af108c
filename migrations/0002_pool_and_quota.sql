-- Pools, nodes, GPUs, quotas and queues.

create table pools (
    id uuid primary key,
    slug text not null constraint pools_slug_check check (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    name text not null constraint pools_name_check check (char_length(name) between 1 and 100),
    gpu_model text,
    mode text not null default 'normal' constraint pools_mode_check check (mode in ('normal', 'overcommitted')),
    state text not null default 'active' constraint pools_state_check check (state in ('active', 'deleted')),
    version bigint not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create unique index pools_slug_key on pools (slug) where state = 'active';

create table nodes (
    id uuid primary key,
    pool_id uuid not null references pools (id),
    name text not null constraint nodes_name_check check (name ~ '^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$'),
    state text not null constraint nodes_state_check
        check (state in ('ready', 'cordoned', 'draining', 'lost', 'removed')),
    -- What the admin set, to go back to when a lost node returns.
    state_before_lost text constraint nodes_state_before_lost_check
        check (state_before_lost in ('ready', 'cordoned', 'draining')),
    state_note text,
    cpu_milli bigint not null constraint nodes_cpu_milli_check check (cpu_milli >= 0),
    memory_mib bigint not null constraint nodes_memory_mib_check check (memory_mib >= 0),
    -- Claimed by guarded updates: never below zero, whatever two ticks at once believe.
    free_cpu_milli bigint not null constraint nodes_free_cpu_milli_check check (free_cpu_milli between 0 and cpu_milli),
    free_memory_mib bigint not null constraint nodes_free_memory_mib_check check (free_memory_mib between 0 and memory_mib),
    labels jsonb not null default '{}',
    topology jsonb not null default '{}',
    nvlink jsonb not null default '[]',
    rdma boolean not null default false,
    datasets text[] not null default '{}',
    agent_version text not null,
    version bigint not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create unique index nodes_name_key on nodes (name) where state <> 'removed';
create index nodes_pool_id_idx on nodes (pool_id);

create table gpus (
    id uuid primary key,
    node_id uuid not null references nodes (id),
    index integer not null,
    uuid text not null,
    model text not null,
    memory_mib bigint not null constraint gpus_memory_mib_check check (memory_mib > 0),
    free_milli bigint not null constraint gpus_free_milli_check check (free_milli between 0 and 1000),
    free_memory_mib bigint not null constraint gpus_free_memory_mib_check check (free_memory_mib between 0 and memory_mib),
    health text not null constraint gpus_health_check check (health in ('healthy', 'sick', 'missing')),
    health_detail text,
    unique (node_id, index)
);

-- Written at each heartbeat: kept off the rows that the scheduling tick updates.
create table node_leases (
    node_id uuid primary key references nodes (id),
    instance_id uuid not null,
    last_seen_at timestamptz not null,
    lease_until timestamptz not null,
    report_sequence bigint not null default 0,
    acted_generation bigint not null default 0,
    clock_skew_ms bigint not null default 0,
    -- Processes it still runs that nobody wants there any more: nothing new is placed until they are swept.
    stray_members integer not null default 0
) with (fillfactor = 50);

-- What the node should run has changed: agents poll for a newer generation.
create table node_generations (
    node_id uuid primary key references nodes (id),
    generation bigint not null default 1
) with (fillfactor = 50);

create table join_tokens (
    id uuid primary key,
    token_hash bytea not null unique,
    hint text not null,
    pool_id uuid not null references pools (id),
    max_uses integer not null constraint join_tokens_max_uses_check check (max_uses between 1 and 10000),
    uses integer not null default 0 constraint join_tokens_uses_check check (uses between 0 and max_uses),
    created_by uuid references users (id),
    created_at timestamptz not null,
    expires_at timestamptz not null,
    revoked_at timestamptz
);

create table node_credentials (
    credential_hash bytea primary key,
    node_id uuid not null references nodes (id),
    created_at timestamptz not null,
    revoked_at timestamptz
);
create index node_credentials_node_id_idx on node_credentials (node_id);

create table quotas (
    team_id uuid not null references teams (id),
    pool_id uuid not null references pools (id),
    guaranteed_gpus integer not null constraint quotas_guaranteed_gpus_check check (guaranteed_gpus between 0 and 1000000),
    -- Null = no limit, here and below.
    borrow_limit_gpus integer constraint quotas_borrow_limit_gpus_check check (borrow_limit_gpus between 0 and 1000000),
    lend_limit_gpus integer constraint quotas_lend_limit_gpus_check check (lend_limit_gpus between 0 and 1000000),
    weight integer not null default 1 constraint quotas_weight_check check (weight between 0 and 1000000),
    drain boolean not null default false,
    version bigint not null default 1,
    updated_at timestamptz not null,
    primary key (team_id, pool_id)
);
create index quotas_pool_id_idx on quotas (pool_id);

create table queues (
    id uuid primary key,
    team_id uuid not null references teams (id),
    slug text not null constraint queues_slug_check check (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    name text not null constraint queues_name_check check (char_length(name) between 1 and 100),
    "order" text not null default 'fifo_with_backfill'
        constraint queues_order_check check ("order" in ('strict_fifo', 'fifo_with_backfill')),
    state text not null default 'open' constraint queues_state_check check (state in ('open', 'held', 'draining')),
    -- Null = every kind.
    allowed_kinds text[] constraint queues_allowed_kinds_check
        check (allowed_kinds <@ array['training', 'inference', 'experiment', 'evaluation', 'batch']),
    max_running_jobs integer constraint queues_max_running_jobs_check check (max_running_jobs >= 0),
    max_running_jobs_per_user integer
        constraint queues_max_running_jobs_per_user_check check (max_running_jobs_per_user >= 0),
    max_running_gpus integer constraint queues_max_running_gpus_check check (max_running_gpus >= 0),
    deleted_at timestamptz,
    version bigint not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create unique index queues_slug_key on queues (slug) where deleted_at is null;
create index queues_team_id_idx on queues (team_id);

-- The installation's planner policy, one document a version; the newest counts.
create table policies (
    version bigint primary key,
    document jsonb not null,
    created_by uuid references users (id),
    created_at timestamptz not null
);
