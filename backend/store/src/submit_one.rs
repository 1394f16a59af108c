//! The statement for a submission of one job, which is what most people and pipelines send: its columns are parameters.
//!
//! It does what [`crate::submit::insert`]'s statement does for many, without rows to be parsed and joined: measured by
//! itself it takes three quarters of that one's time. What is true of one must be true of the other; `tests/work` asks both.

use crate::connect::Store;
use crate::error::StoreError;
use crate::idempotency::DUPLICATE;
use crate::submit::{NewJob, Patience, SeenQueue, Submission};
use crate::write_tx::{EventRow, NewEvent};
use sqlx::types::Json;
use uuid::Uuid;

struct Outcome {
    /// All that it stood on is as it was seen.
    open: bool,
    /// Its key was free.
    taken: bool,
}

macro_rules! insert_row {
    ($locked:literal, $lane:expr, $submission:expr, $job:expr, $event:expr) => {{
        let (submission, job, event) = ($submission, $job, $event);
        let queue = submission.seen.first();
        let (key, reply) = submission.reply.as_ref().map(|(key, reply)| (key, reply)).unzip();
        let pools: Vec<Uuid> = job.pool_ids.iter().map(|id| id.0).collect();
        sqlx::query_as!(
            Outcome,
            "with locked as materialized (
                 select q.id from queues q join teams t on t.id = q.team_id
                 where q.id = $12::uuid and q.deleted_at is null and t.state = 'active' and q.state <> 'draining'
                   and q.version = coalesce($1::bigint, q.version) and t.version = coalesce($2::bigint, t.version)
                 for share of q, t" + $locked + "
             ), open as materialized (
                 select locked.id from locked
                 where coalesce($3::bigint = (select coalesce(max(version), 0) from policies), true)
                   and not exists (select from unnest($25::uuid[]) as named(id)
                                   where not exists (select from pools p where p.id = named.id and p.state = 'active'))
             ), kept as (
                 insert into idempotency_keys (caller, key, request_hash, status, response_headers, response, created_at)
                 select $4::uuid, $5::text, $6::bytea, $7::smallint, $8::jsonb, $9::bytea, $56::timestamptz
                 from open where $5::text is not null
                 on conflict (caller, key) do nothing
                 returning caller
             ), taken as materialized (
                 select id from open where $5::text is null union all select caller from kept
             ), placed as (
                 insert into jobs (id, team_id, queue_id, user_id, name, kind, priority_class, state, held, gpus, gpu_milli,
                     gpu_memory_mib, cpu_milli, memory_mib, min_replicas, max_replicas, pool_ids, gpu_model,
                     node_labels, require_topology, prefer_topology, nvlink, rdma, time_limit_secs, preemptible, evict_others,
                     requeue, checkpoint, checkpoint_signal, max_failures, command, env, working_dir, labels,
                     submitted_at, updated_at)
                 select $10::uuid, $11::uuid, $12::uuid, $13::uuid, $14::text, $15::text, $16::text, 'queued',
                        $17::boolean, $18::integer, $19::bigint, $20::bigint, $21::bigint, $22::bigint, $23::integer,
                        $24::integer, $25::uuid[], $26::text, $27::jsonb, $28::text, $29::text, $57::text, $30::boolean,
                        $31::bigint, $32::boolean, $33::boolean, $34::boolean, $35::text, $36::text, $37::integer,
                        $38::text[], $39::jsonb, $40::text, $41::jsonb, $42::timestamptz, $42::timestamptz
                 from taken
             ), told as (
                 insert into events (ordinal, occurred_at, team_id, id, actor_type, actor_id, actor_name, action, subject_type, subject_id, request_id, rule,
                     allowed, before, after, detail)
                 select 0, $56::timestamptz, $11::uuid, $43::uuid, $44::text, $45::uuid, $46::text, $47::text, $48::text, $49::uuid, $50::text,
                        $51::text, $52::boolean, $53::jsonb, $54::jsonb, $55::jsonb
                 from taken
             )
             select exists (select from open) as \"open!\", exists (select from taken) as \"taken!\"",
            queue.map(|seen| seen.queue_version),
            queue.map(|seen| seen.team_version),
            submission.policy_version,
            key.map(|key| key.caller),
            key.map(|key| key.key.as_str()),
            key.map(|key| key.request_hash.as_slice()),
            reply.map(|reply| i16::try_from(reply.status).unwrap_or(201)),
            reply.map(|reply| &reply.headers),
            reply.map(|reply| reply.body.as_slice()),
            job.id.0,
            job.team_id.0,
            job.queue_id.0,
            job.user_id.0,
            &job.name,
            job.kind.as_str(),
            job.priority_class.as_str(),
            job.held,
            int(job.gpus),
            job.gpu_milli,
            job.gpu_memory_mib,
            job.cpu_milli,
            job.memory_mib,
            int(job.min_replicas),
            int(job.max_replicas),
            &pools,
            job.gpu_model.as_deref(),
            Json(&job.node_labels) as _,
            job.require_topology.as_deref(),
            job.prefer_topology.as_deref(),
            job.rdma,
            job.time_limit_secs,
            job.preemptible,
            job.evict_others,
            job.requeue,
            job.checkpoint.as_str(),
            &job.checkpoint_signal,
            int(job.max_failures),
            &job.command,
            Json(&job.env) as _,
            job.working_dir.as_deref(),
            Json(&job.labels) as _,
            job.submitted_at,
            event.id.0,
            event.actor_type.as_str(),
            event.actor_id,
            event.actor_name,
            event.action,
            event.subject_type,
            event.subject_id,
            event.request_id,
            event.rule,
            event.allowed,
            event.before,
            event.after,
            event.detail,
            event.occurred_at,
            job.nvlink.as_str()
        )
        .fetch_one($lane.connection())
        .await
    }};
}

/// The job of a submission that can be kept so: one job that waits for no other, and no other queue than its own was
/// looked at.
pub(crate) fn only(submission: &Submission) -> Option<&NewJob> {
    let [job] = submission.jobs.as_slice() else { return None };
    let own = |seen: &SeenQueue| seen.queue_id == job.queue_id.0;
    (job.depends_on.is_empty() && submission.seen.len() <= 1 && submission.seen.iter().all(own))
        .then_some(job)
}

/// Keeps it; what became of it is as in [`crate::submit::insert`].
pub(crate) async fn insert(
    store: &Store,
    submission: &Submission,
    job: &NewJob,
    event: &NewEvent,
    patience: Patience,
) -> Result<Result<(), StoreError>, StoreError> {
    let event = EventRow::new(&submission.context, event, 0);
    let mut lane = store.lanes().take(store.pool()).await?;
    let kept = match patience {
        Patience::Wait => insert_row!("", lane, submission, job, &event),
        Patience::Pass => insert_row!(" skip locked", lane, submission, job, &event),
    };
    let outcome = store.lanes().settle(lane, kept)?;
    Ok(match outcome {
        Outcome { open: false, .. } => Err(StoreError::Conflict),
        Outcome { taken: false, .. } => Err(StoreError::Duplicate { constraint: DUPLICATE.to_owned() }),
        Outcome { .. } => Ok(()),
    })
}

/// A number of the job's, all of which the schema keeps far below.
fn int(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
