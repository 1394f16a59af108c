-- Jobs that wait for the end of others. The planner does not see them before all they wait for has ended as wanted.
--
-- Only jobs that exist can be waited for, and what a job waits for never changes: no circle can come about.

alter table jobs add column waits_for_jobs boolean not null default false;
alter table jobs drop constraint jobs_reason_code_check;
alter table jobs add constraint jobs_reason_code_check check (reason_code in (
    'invalid', 'never_fits', 'over_cap', 'waiting_for_jobs', 'queue_held', 'awaiting_approval', 'budget_exhausted',
    'outside_time_window', 'no_quota', 'fragmented', 'topology', 'waiting_for_evictions', 'behind_others',
    'search_budget_exhausted'));

create table job_dependencies (
    job_id uuid not null references jobs (id),
    depends_on uuid not null references jobs (id),
    -- How the other has to end: succeeded, any way at all, or not succeeded.
    condition text not null constraint job_dependencies_condition_check check (condition in ('ok', 'any', 'failed')),
    -- Whether it ended so; null = it has not ended.
    met boolean,
    -- What `met` means for the job has been done.
    settled boolean not null default false,
    primary key (job_id, depends_on)
);
create index job_dependencies_depends_on_idx on job_dependencies (depends_on);
create index job_dependencies_unsettled_idx on job_dependencies (job_id) where met is not null and not settled;

-- Written with the end of a job, by whichever way it ends. A requeued job's second end changes nothing any more.
create function note_dependencies() returns trigger language plpgsql as $$
begin
    update job_dependencies set met = case condition when 'any' then true when 'ok' then new.state = 'succeeded'
                                                     else new.state <> 'succeeded' end
    where depends_on = new.id and met is null;
    return null;
end $$;
create trigger jobs_note_dependencies after update of state on jobs for each row
    when (new.state in ('succeeded', 'failed', 'cancelled') and old.state is distinct from new.state)
    execute function note_dependencies();

-- The planner reads one column more.
create trigger jobs_note_waiting after update of waits_for_jobs on jobs for each row
    when (old.waits_for_jobs is distinct from new.waits_for_jobs) execute function note_changed_job();
