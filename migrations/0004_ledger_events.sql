-- The usage ledger, loans, events and their seal, idempotency.

-- GPU time by allocation: one interval a (member set) of a run, closed when the GPUs are confirmed free.
-- A run's interval is split when its job grows or shrinks.
create table usage_intervals (
    id uuid primary key,
    run_id uuid not null references runs (id),
    job_id uuid not null,
    team_id uuid not null references teams (id),
    pool_id uuid not null references pools (id),
    kind text not null,
    priority_class text not null,
    gpu_milli bigint not null,
    started_at timestamptz not null,
    ended_at timestamptz,
    constraint usage_intervals_order_check check (ended_at >= started_at)
);
create unique index usage_intervals_open_key on usage_intervals (run_id) where ended_at is null;
create index usage_intervals_team_id_idx on usage_intervals (team_id, started_at);

-- Who borrows from whom: a new interval at every change of the amount. Null lender = capacity that nobody's
-- guarantee covers.
create table loans (
    id uuid primary key,
    pool_id uuid not null references pools (id),
    borrower_team_id uuid not null references teams (id),
    lender_team_id uuid references teams (id),
    gpu_milli bigint not null constraint loans_gpu_milli_check check (gpu_milli > 0),
    started_at timestamptz not null,
    ended_at timestamptz,
    constraint loans_order_check check (ended_at >= started_at)
);
create unique index loans_open_key on loans (pool_id, borrower_team_id, lender_team_id) nulls not distinct
    where ended_at is null;
create index loans_started_at_idx on loans (started_at);

-- Every state change, written in the effect's own transaction. Positions come later, from the sealer: a writer
-- takes no lock here.
create table events (
    id uuid primary key,
    -- The writing transaction: the sealer reads only below the horizon of those still running.
    xid xid8 not null default pg_current_xact_id(),
    -- The order in which its transaction recorded it.
    ordinal integer not null default 0,
    occurred_at timestamptz not null,
    actor_type text not null constraint events_actor_type_check
        check (actor_type in ('user', 'token', 'node', 'system', 'anonymous')),
    actor_id uuid,
    -- Kept as it was called then.
    actor_name text not null,
    action text not null,
    subject_type text not null,
    subject_id uuid,
    team_id uuid,
    request_id text,
    rule text,
    -- False: a denied attempt.
    allowed boolean not null default true,
    before jsonb,
    after jsonb,
    detail jsonb
);
create index events_subject_idx on events (subject_type, subject_id, id);
create index events_team_id_idx on events (team_id, id);
create index events_xid_idx on events (xid, ordinal, id);

-- Gap-free positions and the hash chain, in commit order.
create table event_seals (
    position bigint primary key constraint event_seals_position_check check (position > 0),
    event_id uuid not null unique references events (id),
    -- sha256(previous hash, canonical event)
    hash bytea not null,
    sealed_at timestamptz not null
);

create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception '% is append-only: % is refused', tg_table_name, tg_op using errcode = 'insufficient_privilege';
end $$;

create trigger events_append_only before update or delete or truncate on events
    for each statement execute function refuse_change();
create trigger event_seals_append_only before update or delete or truncate on event_seals
    for each statement execute function refuse_change();

create table idempotency_keys (
    -- Who asked: a user's or a token's id.
    caller uuid not null,
    key text not null constraint idempotency_keys_key_check check (char_length(key) between 1 and 255),
    request_hash bytea not null,
    status smallint not null,
    response_headers jsonb not null default '{}',
    response bytea not null,
    created_at timestamptz not null,
    primary key (caller, key)
);
create index idempotency_keys_created_at_idx on idempotency_keys (created_at);

-- Loops say when they last worked, for /readyz and the console's "as of".
create table loop_beats (
    loop text primary key,
    last_step_at timestamptz not null,
    detail jsonb
) with (fillfactor = 50);
