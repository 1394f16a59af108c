-- Jobs whose GPUs compute nothing: who was told, with which evidence, and what came of it.

create table idle_notices (
    id uuid primary key,
    job_id uuid not null references jobs (id),
    run_number integer not null,
    team_id uuid not null references teams (id),
    state text not null constraint idle_notices_state_check
        check (state in ('notified', 'reclaimable', 'stopped', 'closed')),
    -- What the job's rule did, or will do when its time is over.
    action text not null constraint idle_notices_action_check
        check (action in ('off', 'notify', 'reclaimable', 'stop')),
    -- Told and left: what is kept warm, and what is never evicted.
    protected boolean not null,
    -- The evidence, as it was when its owner was told.
    idle_since timestamptz not null,
    window_secs bigint not null,
    samples bigint not null,
    expected bigint not null,
    busy_above_permille integer not null,
    gpu_milli bigint not null,
    notified_at timestamptz not null,
    act_at timestamptz not null,
    snoozed_secs bigint not null default 0 constraint idle_notices_snoozed_secs_check check (snoozed_secs >= 0),
    snoozed_by uuid references users (id),
    -- When it became reclaimable, or was stopped.
    acted_at timestamptz,
    closed_at timestamptz,
    close_reason text constraint idle_notices_close_reason_check
        check (close_reason in ('computes', 'ended', 'rule_off')),
    version bigint not null default 1,
    constraint idle_notices_closed_check
        check ((closed_at is not null) = (close_reason is not null) and (closed_at is not null or state <> 'closed'))
);
create unique index idle_notices_open_key on idle_notices (job_id) where closed_at is null;
create index idle_notices_team_id_idx on idle_notices (team_id, id desc);
create index idle_notices_job_id_idx on idle_notices (job_id, id desc);

-- Which of them give way first is part of what the planner reads.
create function note_idle_notice() returns trigger language plpgsql as $$
begin
    insert into planner_changes (subject, ids) values ('jobs', array[coalesce(new.job_id, old.job_id)]);
    return null;
end $$;
create trigger idle_notices_note_changed after update on idle_notices for each row
    when ((old.state = 'reclaimable' and old.closed_at is null) is distinct from
          (new.state = 'reclaimable' and new.closed_at is null))
    execute function note_idle_notice();
create trigger idle_notices_note_inserted after insert on idle_notices for each row
    when (new.state = 'reclaimable') execute function note_idle_notice();
create trigger idle_notices_note_deleted after delete on idle_notices for each row
    when (old.state = 'reclaimable') execute function note_idle_notice();

-- The longest pause of each ended job, by class, of a team and kind; of all teams: without a team.
create table usual_pauses (
    team_id uuid references teams (id),
    kind text not null constraint usual_pauses_kind_check
        check (kind in ('training', 'inference', 'experiment', 'evaluation', 'batch')),
    counts bigint[] not null,
    constraint usual_pauses_key unique nulls not distinct (team_id, kind)
);

-- Of these, the jobs that have not been counted yet.
alter table run_pauses add column counted boolean not null default false;
create index run_pauses_uncounted_idx on run_pauses (job_id) where not counted;
