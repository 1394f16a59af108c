-- What is agreed for a time to come: GPUs reserved for a team, and maintenance of nodes. A row that was withdrawn is
-- gone; the audit log keeps what it said.

create table reservations (
    id uuid primary key,
    pool_id uuid not null references pools (id),
    team_id uuid not null references teams (id),
    gpus integer not null constraint reservations_gpus_check check (gpus > 0),
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    note text not null default '' constraint reservations_note_check check (length(note) <= 500),
    created_by uuid not null references users (id),
    created_at timestamptz not null,
    constraint reservations_order_check check (starts_at < ends_at),
    constraint reservations_span_check check (ends_at - starts_at <= interval '366 days')
);
-- Each cycle reads those that are not over; each new one is compared with those of its pool.
create index reservations_ends_at_idx on reservations (ends_at);
create index reservations_pool_idx on reservations (pool_id, ends_at);

create table maintenance_windows (
    id uuid primary key,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    note text not null default '' constraint maintenance_windows_note_check check (length(note) <= 500),
    created_by uuid not null references users (id),
    created_at timestamptz not null,
    constraint maintenance_windows_order_check check (starts_at < ends_at),
    constraint maintenance_windows_span_check check (ends_at - starts_at <= interval '366 days')
);
create index maintenance_windows_ends_at_idx on maintenance_windows (ends_at);

create table maintenance_window_nodes (
    window_id uuid not null references maintenance_windows (id) on delete cascade,
    node_id uuid not null references nodes (id),
    primary key (window_id, node_id)
);
create index maintenance_window_nodes_node_idx on maintenance_window_nodes (node_id);
