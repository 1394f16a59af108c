-- How GPUs are used: samples for days, minutes of each job for weeks, hours of each job and each GPU for months. No plan
-- reads these tables, and they share no row with what plans read.

create table gpu_samples (
    gpu_id uuid not null,
    at timestamptz not null,
    -- Whose members ran on it.
    job_ids uuid[] not null default '{}',
    compute_permille smallint constraint gpu_samples_compute_permille_check check (compute_permille between 0 and 1000),
    memory_used_mib bigint constraint gpu_samples_memory_used_mib_check check (memory_used_mib >= 0),
    power_milliwatts bigint constraint gpu_samples_power_milliwatts_check check (power_milliwatts >= 0),
    temperature_celsius smallint,
    pcie_kib_per_s bigint constraint gpu_samples_pcie_kib_per_s_check check (pcie_kib_per_s >= 0),
    primary key (gpu_id, at)
) partition by range (at);

-- A run's GPUs together, minute by minute.
create table job_use_minutes (
    job_id uuid not null,
    run_number integer not null,
    minute timestamptz not null,
    samples integer not null,
    -- Of those that told it; and of these, above what counts as computing.
    compute_samples integer not null,
    busy_samples integer not null,
    compute_permille_sum bigint not null,
    compute_permille_max smallint not null,
    memory_used_mib_max bigint not null,
    power_milliwatts_sum bigint not null,
    primary key (job_id, minute, run_number)
) partition by range (minute);

-- The same by the hour.
create table job_use_hours (
    job_id uuid not null,
    run_number integer not null,
    hour timestamptz not null,
    samples integer not null,
    compute_samples integer not null,
    busy_samples integer not null,
    compute_permille_sum bigint not null,
    compute_permille_max smallint not null,
    memory_used_mib_max bigint not null,
    power_milliwatts_sum bigint not null,
    primary key (job_id, hour, run_number)
);
create index job_use_hours_hour_idx on job_use_hours (hour);

create table gpu_use_hours (
    gpu_id uuid not null,
    hour timestamptz not null,
    samples integer not null,
    -- While a job held it.
    held_samples integer not null,
    compute_samples integer not null,
    compute_permille_sum bigint not null,
    compute_permille_max smallint not null,
    memory_used_mib_max bigint not null,
    power_milliwatts_sum bigint not null,
    temperature_celsius_max smallint,
    primary key (gpu_id, hour)
);
create index gpu_use_hours_hour_idx on gpu_use_hours (hour);

-- When a run computed, and how long it paused amid its work.
create table run_pauses (
    job_id uuid not null,
    run_number integer not null,
    -- What is above it counts as computing; the job's rule says.
    busy_above_permille smallint not null default 30
        constraint run_pauses_busy_above_permille_check check (busy_above_permille between 0 and 1000),
    first_sample_at timestamptz not null,
    last_sample_at timestamptz not null,
    first_busy_at timestamptz,
    last_busy_at timestamptz,
    -- The longest pause that ended, of a minute at least; else 0.
    longest_pause_secs bigint not null default 0,
    primary key (job_id, run_number)
) with (fillfactor = 50);

-- Makes the days' partitions of a table from one day to another, and drops those that end at or before `oldest`. Answers how
-- many there are then. Days are UTC's. With the owner's rights: the service itself may not make tables.
create function keep_days(parent text, first_day date, last_day date, oldest date) returns integer language plpgsql
security definer set search_path = public, pg_temp as $$
declare
    day date;
    part text;
begin
    if parent not in ('gpu_samples', 'job_use_minutes') then
        raise exception '% is not kept by days', parent;
    end if;
    -- One at a time: two servers would make the same day.
    perform pg_advisory_xact_lock(hashtextextended('keep_days', 0));
    for part in select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
                where i.inhparent = parent::regclass and c.relname < parent || '_' || to_char(oldest, 'YYYYMMDD')
    loop
        execute format('drop table %I', part);
    end loop;
    for day in select generate_series(first_day, last_day, interval '1 day')::date
    loop
        part := parent || '_' || to_char(day, 'YYYYMMDD');
        if to_regclass(part) is null then
            execute format('create table %I partition of %I for values from (%L) to (%L)', part, parent,
                           day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
        end if;
    end loop;
    return (select count(*) from pg_inherits i where i.inhparent = parent::regclass);
end $$;
