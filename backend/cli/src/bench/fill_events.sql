-- Events as submissions leave them, :events of them, in transactions of a thousand; ids begin with the time, as ours do.
select format($insert$
    insert into events (id, occurred_at, actor_type, actor_id, actor_name, action, subject_type, subject_id, team_id,
                        request_id, after)
    select overlay(gen_random_uuid()::text placing substr(hex, 1, 8) || '-' || substr(hex, 9) from 1 for 13)::uuid,
           to_timestamp(ms / 1000.0), 'user', id, username, 'job.submitted', 'job', gen_random_uuid(), gen_random_uuid(),
           md5(n::text),
           jsonb_build_object('name', '训练-' || n, 'queue_id', id, 'kind', 'training', 'priority_class', 'normal',
                              'gpus', 8, 'gpu_milli', null, 'min_replicas', 1, 'max_replicas', 1, 'held', false)
    from (select n, 1767225600000 + n as ms, lpad(to_hex(1767225600000 + n), 12, '0') as hex
          from generate_series(%s, %s) as n) each, users where username = 'admin'
$insert$, first, least(first + 999, :events))
from generate_series(1, :events, 1000) as first
\gexec
