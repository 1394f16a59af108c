-- Jobs that move to make room: a cause of eviction, whose rate the policy caps as it does rebalancing's.

alter table evictions drop constraint evictions_cause_check;
alter table evictions add constraint evictions_cause_check check (cause in (
    'reclaim', 'preemption', 'borrow_preemption', 'rebalance', 'consolidation', 'idle', 'drain', 'quota_lowered', 'operator'));

alter table planner_changes drop constraint planner_changes_subject_check;
update planner_changes set subject = 'capped_evictions' where subject = 'rebalances';
alter table planner_changes add constraint planner_changes_subject_check
    check (subject in ('jobs', 'nodes', 'settings', 'calendar', 'capped_evictions', 'reasons'));

create or replace function note_evictions() returns trigger language plpgsql as $$
begin
    perform note_planner_change('jobs', (select array_agg(distinct job_id) from changed));
    insert into planner_changes (subject)
    select 'capped_evictions' where exists (select from changed where cause in ('rebalance', 'consolidation'));
    return null;
end $$;
