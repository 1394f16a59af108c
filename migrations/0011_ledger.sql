-- The settled ledger, its days, prices and months.

-- What each team was guaranteed itself (less what it guarantees its children), as intervals, like capacity.
create table guarantee_intervals (
    id uuid primary key,
    pool_id uuid not null references pools (id),
    team_id uuid not null references teams (id),
    gpu_milli bigint not null constraint guarantee_intervals_gpu_milli_check check (gpu_milli > 0),
    started_at timestamptz not null,
    ended_at timestamptz,
    constraint guarantee_intervals_order_check check (ended_at >= started_at)
);
create unique index guarantee_intervals_open_key on guarantee_intervals (pool_id, team_id) where ended_at is null;
create index guarantee_intervals_ended_at_idx on guarantee_intervals (ended_at);

-- Today's guarantees hold from when they were last set; what they were before is not known.
insert into guarantee_intervals (id, pool_id, team_id, gpu_milli, started_at)
select gen_random_uuid(), k.pool_id, k.team_id, k.kept * 1000, k.updated_at
from (select q.pool_id, q.team_id, q.updated_at,
             q.guaranteed_gpus - coalesce((select sum(c.guaranteed_gpus) from quotas c join teams t on t.id = c.team_id
                                           where t.parent_id = q.team_id and t.state = 'active'
                                             and c.pool_id = q.pool_id), 0) as kept
      from quotas q join teams t on t.id = q.team_id where t.state = 'active') k
where k.kept > 0;

-- How far each pool's ledger is made. Hours before `settled_until` are final, unless something was told late.
create table ledger_progress (
    pool_id uuid primary key references pools (id),
    settled_until timestamptz not null,
    derived_until timestamptz not null,
    -- The first hour that has to be made anew.
    redo_from timestamptz
);

-- At each moment every GPU of a pool stands in exactly one line.
create table ledger_entries (
    id bigint generated always as identity primary key,
    pool_id uuid not null references pools (id),
    hour timestamptz not null,
    share text not null constraint ledger_entries_share_check check (share in ('guaranteed', 'loan', 'idle', 'down')),
    -- On whose bill; null = nobody's.
    team_id uuid references teams (id),
    lender_team_id uuid references teams (id),
    run_id uuid,
    job_id uuid,
    queue_id uuid,
    kind text,
    priority_class text,
    gpu_milli bigint not null constraint ledger_entries_gpu_milli_check check (gpu_milli > 0),
    -- Whole milliseconds.
    started_at timestamptz not null,
    ended_at timestamptz not null,
    constraint ledger_entries_order_check check (ended_at > started_at)
);
create index ledger_entries_pool_id_hour_idx on ledger_entries (pool_id, hour);
create index ledger_entries_hour_id_idx on ledger_entries (hour, id);

-- The same by day, in milli-GPU-milliseconds, and in millionths of a GPU-hour as it is billed.
create table usage_days (
    id bigint generated always as identity primary key,
    day date not null,
    pool_id uuid not null references pools (id),
    share text not null constraint usage_days_share_check check (share in ('guaranteed', 'loan', 'idle', 'down')),
    team_id uuid references teams (id),
    lender_team_id uuid references teams (id),
    job_id uuid,
    queue_id uuid,
    kind text,
    priority_class text,
    gpu_milli_ms bigint not null constraint usage_days_gpu_milli_ms_check check (gpu_milli_ms > 0),
    gpu_micro_hours bigint not null constraint usage_days_gpu_micro_hours_check check (gpu_micro_hours >= 0)
);
create unique index usage_days_key on usage_days (day, pool_id, share, team_id, lender_team_id, job_id, queue_id, kind,
    priority_class) nulls not distinct;
create index usage_days_team_id_idx on usage_days (team_id, day);

-- The price book, one document a version; the newest counts.
create table price_books (
    version bigint primary key,
    document jsonb not null,
    created_by uuid references users (id),
    created_at timestamptz not null
);
create trigger price_books_append_only before update or delete or truncate on price_books
    for each statement execute function refuse_change();
alter table price_books enable always trigger price_books_append_only;

-- A month is proposed by one and closed by another; then nothing of it changes any more.
create table billing_months (
    -- Its first day.
    month date primary key constraint billing_months_month_check check (extract(day from month) = 1),
    state text not null constraint billing_months_state_check check (state in ('proposed', 'closed')),
    -- What both saw: a hash over every line of the month.
    digest text not null,
    price_version bigint not null,
    currency text not null,
    -- To the cent, over all teams.
    total_cents bigint not null,
    proposed_by uuid not null references users (id),
    proposed_at timestamptz not null,
    closed_by uuid references users (id),
    closed_at timestamptz,
    constraint billing_months_closed_check check ((state = 'closed') = (closed_by is not null and closed_at is not null)),
    constraint billing_months_two_people_check check (closed_by <> proposed_by)
);

-- Money that is put right after a month was closed: a new line, in the month in which it is booked.
create table statement_corrections (
    id uuid primary key,
    team_id uuid not null references teams (id),
    -- Both their first days.
    corrects_month date not null references billing_months (month),
    month date not null,
    -- Hundredths of the currency.
    amount_cents bigint not null constraint statement_corrections_amount_cents_check check (amount_cents <> 0),
    currency text not null,
    reason text not null constraint statement_corrections_reason_check check (char_length(reason) between 1 and 500),
    created_by uuid not null references users (id),
    created_at timestamptz not null
);
create index statement_corrections_month_idx on statement_corrections (month, team_id);
create trigger statement_corrections_append_only before update or delete or truncate on statement_corrections
    for each statement execute function refuse_change();
alter table statement_corrections enable always trigger statement_corrections_append_only;

create function refuse_closed_month() returns trigger language plpgsql as $$
begin
    if old.state = 'closed' then
        raise exception 'month % is closed', old.month using errcode = 'insufficient_privilege';
    end if;
    return case when tg_op = 'DELETE' then old else new end;
end $$;
create trigger billing_months_closed before update or delete on billing_months
    for each row execute function refuse_closed_month();
alter table billing_months enable always trigger billing_months_closed;

-- Lines of a closed month: judged once a statement, over all rows that it touched.
create function refuse_closed_entries() returns trigger language plpgsql as $$
begin
    if exists (select from touched r join billing_months m
               on m.state = 'closed' and r.hour >= m.month::timestamp at time zone 'UTC'
                and r.hour < (m.month + interval '1 month') at time zone 'UTC') then
        raise exception 'the month of these entries is closed' using errcode = 'insufficient_privilege';
    end if;
    return null;
end $$;
create function refuse_closed_days() returns trigger language plpgsql as $$
begin
    if exists (select from touched r join billing_months m
               on m.state = 'closed' and r.day >= m.month and r.day < m.month + interval '1 month') then
        raise exception 'the month of these days is closed' using errcode = 'insufficient_privilege';
    end if;
    return null;
end $$;
create trigger ledger_entries_closed_new after insert on ledger_entries
    referencing new table as touched for each statement execute function refuse_closed_entries();
create trigger ledger_entries_closed_old after delete on ledger_entries
    referencing old table as touched for each statement execute function refuse_closed_entries();
create trigger usage_days_closed_new after insert on usage_days
    referencing new table as touched for each statement execute function refuse_closed_days();
create trigger usage_days_closed_old after delete on usage_days
    referencing old table as touched for each statement execute function refuse_closed_days();

-- Rows are made and removed, never rewritten; and a table is never emptied at once.
create function refuse_rewrite() returns trigger language plpgsql as $$
begin
    raise exception '%: % is refused', tg_table_name, tg_op using errcode = 'insufficient_privilege';
end $$;
create trigger ledger_entries_rewrite before update or truncate on ledger_entries
    for each statement execute function refuse_rewrite();
create trigger usage_days_rewrite before update or truncate on usage_days
    for each statement execute function refuse_rewrite();
create trigger billing_months_rewrite before truncate on billing_months
    for each statement execute function refuse_rewrite();

-- Also for a session that says it only replays what another server did.
alter table ledger_entries enable always trigger ledger_entries_closed_new;
alter table ledger_entries enable always trigger ledger_entries_closed_old;
alter table ledger_entries enable always trigger ledger_entries_rewrite;
alter table usage_days enable always trigger usage_days_closed_new;
alter table usage_days enable always trigger usage_days_closed_old;
alter table usage_days enable always trigger usage_days_rewrite;
alter table billing_months enable always trigger billing_months_rewrite;

-- Something is told of an hour that was settled already (a clock that ran behind, a very long transaction): the ledger is
-- made anew from there. In the usual case nothing is written.
create function note_late() returns trigger language plpgsql as $$
begin
    update ledger_progress p set redo_from = least(p.redo_from, late.hour)
    from (select t.pool_id, date_trunc('hour', min(case when tg_op = 'INSERT' then t.started_at else t.ended_at end), 'UTC') as hour
          from touched t group by t.pool_id) late
    where p.pool_id = late.pool_id and late.hour < p.settled_until
      and (p.redo_from is null or late.hour < p.redo_from);
    return null;
end $$;
create trigger usage_intervals_late_new after insert on usage_intervals
    referencing new table as touched for each statement execute function note_late();
create trigger usage_intervals_late_end after update on usage_intervals
    referencing new table as touched for each statement execute function note_late();
create trigger loans_late_new after insert on loans
    referencing new table as touched for each statement execute function note_late();
create trigger loans_late_end after update on loans
    referencing new table as touched for each statement execute function note_late();
create trigger capacity_intervals_late_new after insert on capacity_intervals
    referencing new table as touched for each statement execute function note_late();
create trigger capacity_intervals_late_end after update on capacity_intervals
    referencing new table as touched for each statement execute function note_late();
create trigger guarantee_intervals_late_new after insert on guarantee_intervals
    referencing new table as touched for each statement execute function note_late();
create trigger guarantee_intervals_late_end after update on guarantee_intervals
    referencing new table as touched for each statement execute function note_late();
