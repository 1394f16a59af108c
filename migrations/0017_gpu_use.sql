-- How GPUs are used: samples for days, minutes of each job for weeks, hours of each GPU for months. No plan reads these
-- tables, and they share no row with what plans read.

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

-- A job's GPUs together, minute by minute.
create table job_use_minutes (
    job_id uuid not null,
    minute timestamptz not null,
    run_number integer not null,
    samples integer not null,
    -- Of those that told it.
    compute_samples integer not null,
    compute_permille_sum bigint not null,
    compute_permille_max smallint not null,
    memory_used_mib_max bigint not null,
    power_milliwatts_sum bigint not null,
    primary key (job_id, minute)
) partition by range (minute);

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

-- Makes the days' partitions of a table from one day to another, and drops those that end at or before `oldest`. Answers how
-- many there are between. Days are UTC's.
create function keep_days(parent text, first_day date, last_day date, oldest date) returns integer language plpgsql as $$
declare
    day date;
    part text;
begin
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
