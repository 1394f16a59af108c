-- What one submission writes: a job, its event and its idempotent reply, in one statement and so in one transaction.
with placed as (
    insert into jobs (id, team_id, queue_id, user_id, name, kind, priority_class, state, gpus, cpu_milli, memory_mib,
                      min_replicas, max_replicas, checkpoint, command, submitted_at, updated_at)
    select gen_random_uuid(), q.team_id, q.id, u.id, 'ceiling', 'batch', 'low', 'queued', 1, 1000, 4096, 1, 1, 'none',
           array['true'], now(), now()
    from queues q, users u where q.slug = 'bench-held' and u.username = 'admin'
    returning id, team_id, user_id
), told as (
    insert into events (id, occurred_at, actor_type, actor_id, actor_name, action, subject_type, subject_id, team_id,
                        request_id, after)
    select gen_random_uuid(), now(), 'token', user_id, 'admin', 'job.submitted', 'job', id, team_id,
           gen_random_uuid()::text, '{"name": "ceiling", "kind": "batch", "gpus": 1, "priority_class": "low"}'
    from placed
)
insert into idempotency_keys (caller, key, request_hash, status, response, created_at)
select user_id, gen_random_uuid()::text, sha256('x'), 201, convert_to(repeat('x', 900), 'UTF8'), now() from placed;
