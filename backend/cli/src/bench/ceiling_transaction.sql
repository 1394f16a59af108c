-- What one submission writes, as a client of the database usually writes it: a statement each for the job, its event and its
-- idempotent reply, in one transaction. The same rows as in ceiling_statement.sql.
begin;
insert into jobs (id, team_id, queue_id, user_id, name, kind, priority_class, state, held, gpus, cpu_milli, memory_mib,
                  min_replicas, max_replicas, pool_ids, node_labels, rdma, preemptible, evict_others, requeue,
                  checkpoint, checkpoint_signal, max_failures, command, env, labels, submitted_at, updated_at)
select overlay(gen_random_uuid()::text placing
               lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint & 4294967295), 8, '0') || '-' from 1 for 9)::uuid,
       q.team_id, q.id, u.id, '32-1-17-1234-1234567890', 'batch', 'low', 'queued', false, 1, 1000, 4096,
       1, 1, '{}', '{}', false, true, true, true, 'none', 'USR1', 0, array['true'], '{}', '{}', now(), now()
from queues q, users u where q.slug = 'bench-held' and u.username = 'admin'
returning id as job, team_id as team, queue_id as queue, user_id as person \gset
insert into events (id, occurred_at, actor_type, actor_id, actor_name, action, subject_type, subject_id, team_id,
                    request_id, after)
values (overlay(gen_random_uuid()::text placing
                lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint & 4294967295), 8, '0') || '-' from 1 for 9)::uuid,
        now(), 'token', :person, 'admin (bench)', 'job.submitted', 'job', :job, :team, md5(random()::text),
        jsonb_build_object('name', '32-1-17-1234-1234567890', 'queue_id', :queue::text, 'kind', 'batch',
                           'priority_class', 'low', 'gpus', 1, 'gpu_milli', null, 'min_replicas', 1,
                           'max_replicas', 1, 'held', false));
insert into idempotency_keys (caller, key, request_hash, status, response, created_at)
values (:person, '32-1-17-1234-' || random()::text, sha256('x'), 201, convert_to(repeat('x', 900), 'UTF8'), now());
commit;
