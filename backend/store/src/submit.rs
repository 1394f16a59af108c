//! Submitting jobs: rows, events and the idempotent reply of a whole batch in one statement, which is one
//! transaction and one round trip.
//!
//! All or nothing. This module refuses to judge a submission: parsing and rights come before.

use crate::connect::Store;
use crate::error::StoreError;
use crate::idempotency::{IdempotencyKey, StoredReply};
use crate::write_tx::{NewEvent, WriteContext, event_rows};
use chrono::{DateTime, Utc};
use reeve_core::id::{JobId, PoolId, QueueId, TeamId, UserId};
use reeve_core::job::CheckpointMode;
use reeve_core::kind::Kind;
use reeve_core::priority::PriorityClass;
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// A job to be put in line, named as its columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewJob {
    pub id: JobId,
    pub team_id: TeamId,
    pub queue_id: QueueId,
    pub user_id: UserId,
    pub name: String,
    pub kind: Kind,
    pub priority_class: PriorityClass,
    pub held: bool,
    pub gpus: u32,
    pub gpu_milli: Option<i64>,
    pub gpu_memory_mib: Option<i64>,
    pub cpu_milli: i64,
    pub memory_mib: i64,
    pub min_replicas: u32,
    pub max_replicas: u32,
    pub pool_ids: Vec<PoolId>,
    pub gpu_model: Option<String>,
    pub node_labels: BTreeMap<String, String>,
    pub require_topology: Option<String>,
    pub prefer_topology: Option<String>,
    pub rdma: bool,
    pub time_limit_secs: Option<i64>,
    pub preemptible: bool,
    pub evict_others: bool,
    pub requeue: bool,
    pub checkpoint: CheckpointMode,
    pub checkpoint_signal: String,
    pub max_failures: u32,
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub working_dir: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub submitted_at: DateTime<Utc>,
}

/// Puts jobs in line. With a key, the reply is kept in the same transaction. Queues and teams are locked against whoever
/// deletes or drains them, so that nothing slips in behind a count of live jobs; submissions share the lock.
///
/// # Errors
/// [`StoreError::Duplicate`] with [`crate::idempotency::DUPLICATE`] when an equal request was faster (read its
/// reply); [`StoreError::Conflict`] when a queue was closed or a team deleted meanwhile; [`StoreError::Check`] for
/// a value that the schema refuses.
pub async fn insert_batch(
    store: &Store,
    context: &WriteContext,
    jobs: &[NewJob],
    reply: Option<(&IdempotencyKey, &StoredReply)>,
) -> Result<(), StoreError> {
    if jobs.is_empty() {
        return Err(StoreError::NoEvent);
    }
    let queues: Vec<Uuid> =
        jobs.iter().map(|job| job.queue_id.0).collect::<BTreeSet<_>>().into_iter().collect();
    let events: Vec<NewEvent> = jobs.iter().map(submitted).collect();
    let inserted = sqlx::query_scalar!(
        r#"with locked as materialized (
             select q.id from queues q join teams t on t.id = q.team_id
             where q.id = any($3) and q.deleted_at is null and q.state <> 'draining' and t.state = 'active'
             order by q.id for share of q, t
         ), open_queues as (select count(*) as n from locked), placed as (
             insert into jobs (id, team_id, queue_id, user_id, name, kind, priority_class, state, held, gpus, gpu_milli,
                 gpu_memory_mib, cpu_milli, memory_mib, min_replicas, max_replicas, pool_ids, gpu_model, node_labels,
                 require_topology, prefer_topology, rdma, time_limit_secs, preemptible, evict_others, requeue,
                 checkpoint, checkpoint_signal, max_failures, command, env, working_dir, labels, submitted_at,
                 updated_at)
             select j.id, j.team_id, j.queue_id, j.user_id, j.name, j.kind, j.priority_class, 'queued', j.held, j.gpus,
                 j.gpu_milli, j.gpu_memory_mib, j.cpu_milli, j.memory_mib, j.min_replicas, j.max_replicas, j.pool_ids,
                 j.gpu_model, j.node_labels, j.require_topology, j.prefer_topology, j.rdma, j.time_limit_secs,
                 j.preemptible, j.evict_others, j.requeue, j.checkpoint, j.checkpoint_signal, j.max_failures, j.command,
                 j.env, j.working_dir, j.labels, j.submitted_at, j.submitted_at
             from jsonb_to_recordset($1::jsonb) as j(
                 id uuid, team_id uuid, queue_id uuid, user_id uuid, name text, kind text, priority_class text,
                 held boolean, gpus integer, gpu_milli bigint, gpu_memory_mib bigint, cpu_milli bigint,
                 memory_mib bigint, min_replicas integer, max_replicas integer, pool_ids uuid[], gpu_model text,
                 node_labels jsonb, require_topology text, prefer_topology text, rdma boolean, time_limit_secs bigint,
                 preemptible boolean, evict_others boolean, requeue boolean, checkpoint text, checkpoint_signal text,
                 max_failures integer, command text[], env jsonb, working_dir text, labels jsonb,
                 submitted_at timestamptz)
             where (select n from open_queues) = cardinality($3)
             returning id
         ), told as (
             insert into events (id, ordinal, occurred_at, actor_type, actor_id, actor_name, action, subject_type,
                                 subject_id, team_id, request_id, rule, allowed, before, after, detail)
             select id, ordinal, occurred_at, actor_type, actor_id, actor_name, action, subject_type,
                    subject_id, team_id, request_id, rule, allowed, before, after, detail
             from jsonb_to_recordset($2::jsonb) as e(
                 id uuid, ordinal integer, occurred_at timestamptz, actor_type text, actor_id uuid,
                 actor_name text, action text, subject_type text, subject_id uuid, team_id uuid,
                 request_id text, rule text, allowed boolean, before jsonb, after jsonb, detail jsonb)
             where (select n from open_queues) = cardinality($3)
         ), kept as (
             insert into idempotency_keys (caller, key, request_hash, status, response_headers, response, created_at)
             select $4, $5, $6, $7, $8, $9, $10
             where $4::uuid is not null and (select n from open_queues) = cardinality($3)
         )
         select count(*) as "inserted!" from placed"#,
        serde_json::to_value(jobs)?,
        event_rows(context, &events)?,
        &queues,
        reply.map(|(key, _)| key.caller),
        reply.map(|(key, _)| key.key.as_str()),
        reply.map(|(key, _)| key.request_hash.as_slice()),
        reply.map(|(_, reply)| i16::try_from(reply.status).unwrap_or(201)),
        reply.map(|(_, reply)| &reply.headers),
        reply.map(|(_, reply)| reply.body.as_slice()),
        context.now
    )
    .fetch_one(store.pool())
    .await?;
    if usize::try_from(inserted) != Ok(jobs.len()) {
        return Err(StoreError::Conflict);
    }
    store.signals().wake_sealer();
    store.signals().wake_schedule();
    Ok(())
}

fn submitted(job: &NewJob) -> NewEvent {
    NewEvent::new("job.submitted", "job", job.id).team(job.team_id).after(json!({
        "name": job.name, "queue_id": job.queue_id, "kind": job.kind, "priority_class": job.priority_class,
        "gpus": job.gpus, "gpu_milli": job.gpu_milli, "min_replicas": job.min_replicas,
        "max_replicas": job.max_replicas, "held": job.held,
    }))
}
