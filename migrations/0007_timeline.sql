-- What a timeline asks: the runs that overlap a span of time, and the starts that are planned.

-- A clock that was set back may end a run before it began: such a span is the moment at which it began.
create index runs_span_idx on runs using gist
    (tstzrange(placed_at, case when ended_at < placed_at then placed_at else ended_at end, '[]'));
-- Long spans are read from their end, a page at a time.
create index runs_placed_at_idx on runs (placed_at, id);

-- The space that the last plan keeps for the first jobs that wait: a few rows a pool, rewritten where they change.
create table planned_starts (
    job_id uuid primary key references jobs (id),
    pool_id uuid not null references pools (id),
    -- Null = unknown: the job has waited so long that its space is kept without one.
    starts_at timestamptz,
    -- As the planner gave it; empty where the start lies too far ahead to keep anybody out.
    placement jsonb not null default '[]',
    planned_at timestamptz not null
);
