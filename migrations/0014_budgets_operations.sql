-- Budgets, what is used of them, exceptions; and long work that people wait for.

create table budgets (
    id uuid primary key,
    team_id uuid not null references teams (id),
    -- Null = every class.
    priority_class text constraint budgets_priority_class_check
        check (priority_class in ('scavenger', 'low', 'normal', 'high', 'critical')),
    unit text not null constraint budgets_unit_check check (unit in ('gpu_hours', 'money')),
    -- Millionths of the unit, each month.
    amount_micros bigint not null constraint budgets_amount_micros_check check (amount_micros >= 0),
    action text not null constraint budgets_action_check check (action in ('warn', 'approval', 'block')),
    note text not null default '' constraint budgets_note_check check (char_length(note) <= 500),
    version bigint not null default 1,
    created_by uuid not null references users (id),
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create unique index budgets_key on budgets (team_id, priority_class, unit) nulls not distinct;

-- Approved: more than the budget, until then.
create table budget_exceptions (
    id uuid primary key,
    budget_id uuid not null references budgets (id) on delete cascade,
    -- Null = as much as it takes.
    extra_micros bigint constraint budget_exceptions_extra_micros_check check (extra_micros > 0),
    until timestamptz not null,
    reason text not null default '' constraint budget_exceptions_reason_check check (char_length(reason) <= 500),
    granted_by uuid references users (id),
    created_at timestamptz not null
);
create index budget_exceptions_budget_id_idx on budget_exceptions (budget_id, until);

-- Measured each minute, and kept off the rows that people edit.
create table budget_use (
    budget_id uuid primary key references budgets (id) on delete cascade,
    month date not null,
    used_micros bigint not null,
    as_of timestamptz not null,
    -- What people were told of this month already.
    told text constraint budget_use_told_check check (told in ('near', 'exceeded'))
) with (fillfactor = 50);

create table operations (
    id uuid primary key,
    kind text not null constraint operations_kind_check check (kind in ('usage_export')),
    params jsonb not null,
    -- What its maker could see when it was asked for; null = everything.
    team_ids uuid[],
    state text not null default 'queued' constraint operations_state_check
        check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    cancel_asked boolean not null default false,
    attempt integer not null default 0,
    done_rows bigint not null default 0,
    total_rows bigint,
    error text,
    file_name text,
    content_type text,
    result_bytes bigint,
    created_by uuid not null references users (id),
    created_at timestamptz not null,
    started_at timestamptz,
    -- Whoever works at it says so; one that fell silent is begun anew.
    beat_at timestamptz,
    finished_at timestamptz,
    expires_at timestamptz
) with (fillfactor = 80);
create index operations_created_by_idx on operations (created_by, id desc);
create index operations_live_idx on operations (id) where state in ('queued', 'running');
create index operations_expires_at_idx on operations (expires_at);

create table operation_chunks (
    operation_id uuid not null references operations (id) on delete cascade,
    seq integer not null,
    bytes bytea not null,
    primary key (operation_id, seq)
);
alter table operation_chunks alter column bytes set storage external;
