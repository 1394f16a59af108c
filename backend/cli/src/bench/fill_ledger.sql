-- :entries lines of a settled ledger, spread over January 2026: 20 teams, 1,000 jobs, every share.
insert into pools (id, slug, name, created_at, updated_at) values (gen_random_uuid(), 'ledger', 'Ledger', now(), now());
insert into teams (id, slug, name, created_at, updated_at)
select gen_random_uuid(), 'ledger-' || n, '团队 ' || n, now(), now() from generate_series(1, 20) as n;
insert into queues (id, team_id, slug, name, created_at, updated_at)
select gen_random_uuid(), id, slug || '-q', name, now(), now() from teams where slug like 'ledger-%';
insert into jobs (id, team_id, queue_id, user_id, name, kind, priority_class, state, gpus, cpu_milli, memory_mib, min_replicas,
                  max_replicas, checkpoint, command, submitted_at, finished_at, updated_at)
select gen_random_uuid(), q.team_id, q.id, u.id, 'llama-7b-预训练-' || n, 'training', 'normal', 'succeeded', 8, 0, 0, 1, 1, 'none',
       '{true}', now(), now(), now()
from generate_series(1, 1000) as n join queues q on q.slug = 'ledger-' || (n % 20 + 1) || '-q', users u
where u.username = 'admin';
with job as (select row_number() over () - 1 as n, id, team_id, queue_id from jobs where name like 'llama-7b-%'),
team as (select row_number() over () - 1 as n, id from teams where slug like 'ledger-%'),
line as (
    select n, (array['guaranteed', 'loan', 'idle', 'guaranteed'])[n % 4 + 1] as share,
           '2026-01-01T00:00:00Z'::timestamptz + (31 * 24 * 3600.0 * n / :entries) * interval '1 second' as at
    from generate_series(0, :entries - 1) as n
)
insert into ledger_entries (pool_id, hour, share, team_id, lender_team_id, run_id, job_id, queue_id, kind, priority_class,
                            gpu_milli, started_at, ended_at)
select p.id, date_trunc('hour', l.at, 'UTC'), l.share, j.team_id, case when l.share = 'loan' then t.id end,
       case when l.share <> 'idle' then gen_random_uuid() end, case when l.share <> 'idle' then j.id end,
       case when l.share <> 'idle' then j.queue_id end, case when l.share <> 'idle' then 'training' end,
       case when l.share <> 'idle' then 'normal' end, 8000, date_trunc('milliseconds', l.at),
       date_trunc('milliseconds', l.at) + interval '61 seconds'
from line l join job j on j.n = l.n % 1000 join team t on t.n = l.n % 20, pools p where p.slug = 'ledger';
analyze ledger_entries;
