-- The log of changes is written by each submission. A function in SQL is planned anew at each call, which took a tenth of a
-- submission's time; the statements of a function in PL/pgSQL are planned once a session.

create or replace function note_inserted_jobs() returns trigger language plpgsql as $$
begin
    insert into planner_changes (subject, ids) select 'jobs', array_agg(id) from changed having count(*) > 0;
    return null;
end $$;

create or replace function note_jobs_of_rows() returns trigger language plpgsql as $$
begin
    insert into planner_changes (subject, ids) select 'jobs', array_agg(distinct job_id) from changed having count(*) > 0;
    return null;
end $$;

create or replace function note_evictions() returns trigger language plpgsql as $$
begin
    insert into planner_changes (subject, ids) select 'jobs', array_agg(distinct job_id) from changed having count(*) > 0;
    insert into planner_changes (subject)
    select 'capped_evictions' where exists (select from changed where cause in ('rebalance', 'consolidation'));
    return null;
end $$;

create or replace function note_victims_of_reclaim() returns trigger language plpgsql as $$
begin
    insert into planner_changes (subject, ids)
    select 'jobs', array_agg(distinct job_id) from evictions where reclaim_id = new.id and outcome = 'leaving' having count(*) > 0;
    return null;
end $$;

drop function note_planner_change(text, uuid[]);
