//! Submitting jobs: rows, events and idempotent replies in one statement, which is one transaction and one round trip.
//!
//! Each submission is taken whole or not at all, and each has its own outcome: what becomes of one changes nothing for
//! the others in the statement. This module refuses to judge a submission: parsing and rights come before.

use crate::connect::Store;
use crate::error::StoreError;
use crate::idempotency::{DUPLICATE, IdempotencyKey, StoredReply};
use crate::submit_one;
use crate::submit_rows::Rows;
use crate::write_tx::{NewEvent, WriteContext};
use chrono::{DateTime, Utc};
use reeve_core::dependency::Dependency;
use reeve_core::id::{JobId, PoolId, QueueId, TeamId, UserId};
use reeve_core::job::{CheckpointMode, NvLink};
use reeve_core::kind::Kind;
use reeve_core::priority::PriorityClass;
use serde::Serialize;
use serde_json::json;
use sqlx::types::Json;
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
    pub nvlink: NvLink,
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
    pub depends_on: Vec<Dependency>,
    pub submitted_at: DateTime<Utc>,
}

/// A queue as it was when a submission was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeenQueue {
    pub queue_id: Uuid,
    pub queue_version: i64,
    pub team_version: i64,
}

/// Jobs to be kept together, with what their admission stood on.
#[derive(Debug, Clone)]
pub struct Submission {
    pub context: WriteContext,
    pub jobs: Vec<NewJob>,
    /// The reply to be kept with them, under its key.
    pub reply: Option<(IdempotencyKey, StoredReply)>,
    /// Queues of the jobs, and those that were passed over for them; a job's queue that is not here may be whatever it
    /// is now, as long as it takes jobs.
    pub seen: BTreeSet<SeenQueue>,
    /// `None` = whatever policy is in force.
    pub policy_version: Option<i64>,
}

/// Whether to wait for a queue or a team that somebody is changing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// For as long as the lock's time-out.
    Wait,
    /// Not at all: the submission is a conflict, and holds up nobody who is in the same statement.
    Pass,
}

/// The statement, with what a lock that somebody else holds means.
macro_rules! insert_rows {
    ($locked:literal, $lane:expr, $rows:expr) => {{
        let rows = $rows;
        sqlx::query_as!(
            Outcome,
            "with heads as materialized (
                 select nth, policy_version from jsonb_to_recordset($1::jsonb) as h(nth integer, policy_version bigint)
             ), stands as materialized (
                 select nth, queue_id, queue_version, team_version, takes
                 from jsonb_to_recordset($2::jsonb)
                   as s(nth integer, queue_id uuid, queue_version bigint, team_version bigint, takes boolean)
             ), locked as materialized (
                 select q.id, q.version as queue_version, t.version as team_version, q.state <> 'draining' as takes
                 from queues q join teams t on t.id = q.team_id
                 where q.id = any($3) and q.deleted_at is null and t.state = 'active'
                 order by q.id for share of q, t" + $locked + "
             ), wanted as materialized (
                 select nth, id, team_id, queue_id, user_id, name, kind, priority_class, held, gpus, gpu_milli,
                     gpu_memory_mib, cpu_milli, memory_mib, min_replicas, max_replicas, pool_ids, gpu_model, node_labels,
                     require_topology, prefer_topology, nvlink, rdma, time_limit_secs, preemptible, evict_others, requeue,
                     checkpoint, checkpoint_signal, max_failures, command, env, working_dir, labels, depends_on, submitted_at
                 from jsonb_to_recordset($4::jsonb) as j(
                     nth integer, id uuid, team_id uuid, queue_id uuid, user_id uuid, name text, kind text,
                     priority_class text, held boolean, gpus integer, gpu_milli bigint, gpu_memory_mib bigint,
                     cpu_milli bigint, memory_mib bigint, min_replicas integer, max_replicas integer, pool_ids uuid[],
                     gpu_model text, node_labels jsonb, require_topology text, prefer_topology text, nvlink text,
                     rdma boolean,
                     time_limit_secs bigint, preemptible boolean, evict_others boolean, requeue boolean,
                     checkpoint text, checkpoint_signal text, max_failures integer, command text[], env jsonb,
                     working_dir text, labels jsonb, depends_on jsonb, submitted_at timestamptz)
             ), changed as materialized (
                 select s.nth from stands s
                 left join locked l on l.id = s.queue_id and (l.takes or not s.takes)
                   and l.queue_version = coalesce(s.queue_version, l.queue_version)
                   and l.team_version = coalesce(s.team_version, l.team_version)
                 where l.id is null
                 union
                 select nth from heads
                 where policy_version <> (select coalesce(max(version), 0) from policies)
                 union
                 select w.nth from wanted w, unnest(w.pool_ids) as named(id)
                 where not exists (select from pools p where p.id = named.id and p.state = 'active')
             ), keyed as materialized (
                 select k.* from unnest($5::integer[], $6::uuid[], $7::text[], $8::bytea[], $9::smallint[], $10::jsonb[],
                                        $11::bytea[], $12::timestamptz[])
                   as k(nth, caller, key, request_hash, status, response_headers, response, created_at)
             ), kept as (
                 insert into idempotency_keys (caller, key, request_hash, status, response_headers, response, created_at)
                 select caller, key, request_hash, status, response_headers, response, created_at
                 from keyed where nth not in (select nth from changed)
                 order by caller, key
                 on conflict (caller, key) do nothing
                 returning caller, key
             ), open as materialized (
                 select h.nth, keyed.nth is null or kept.key is not null as taken
                 from heads h left join keyed on keyed.nth = h.nth
                 left join kept on kept.caller = keyed.caller and kept.key = keyed.key
                 where h.nth not in (select nth from changed)
             ), ties as materialized (
                 select w.id, (d.tie ->> 'job')::uuid as depends_on, d.tie ->> 'condition' as condition
                 from wanted w, jsonb_array_elements(w.depends_on) as d(tie) where w.nth in (select nth from open where taken)
             ), awaited as materialized (
                 select id, state from jobs where id in (select depends_on from ties) order by id for share
             ), tied as (
                 insert into job_dependencies (job_id, depends_on, condition, met)
                 select t.id, t.depends_on, t.condition,
                        case when a.state not in ('succeeded', 'failed', 'cancelled') then null when t.condition = 'any' then true
                             when t.condition = 'ok' then a.state = 'succeeded' else a.state <> 'succeeded' end
                 from ties t join awaited a on a.id = t.depends_on
             ), placed as (
                 insert into jobs (id, team_id, queue_id, user_id, name, kind, priority_class, state, held, gpus,
                     gpu_milli, gpu_memory_mib, cpu_milli, memory_mib, min_replicas, max_replicas, pool_ids, gpu_model,
                     node_labels, require_topology, prefer_topology, nvlink, rdma, time_limit_secs, preemptible, evict_others,
                     requeue, checkpoint, checkpoint_signal, max_failures, command, env, working_dir, labels,
                     waits_for_jobs, reason_code, reason, reason_at, submitted_at, updated_at)
                 select id, team_id, queue_id, user_id, name, kind, priority_class, 'queued', held, gpus,
                     gpu_milli, gpu_memory_mib, cpu_milli, memory_mib, min_replicas, max_replicas, pool_ids, gpu_model,
                     node_labels, require_topology, prefer_topology, nvlink, rdma, time_limit_secs, preemptible, evict_others,
                     requeue, checkpoint, checkpoint_signal, max_failures, command, env, working_dir, labels,
                     depends_on <> '[]', case when depends_on <> '[]' then 'waiting_for_jobs' end,
                     case when depends_on <> '[]' then jsonb_build_object('main', jsonb_build_object(
                         'code', 'waiting_for_jobs', 'numbers', jsonb_build_object('jobs', jsonb_array_length(depends_on))),
                         'others', '[]'::jsonb, 'position', 0) end,
                     case when depends_on <> '[]' then submitted_at end, submitted_at, submitted_at
                 from wanted where nth in (select nth from open where taken)
             ), told as (
                 insert into events (id, ordinal, occurred_at, actor_type, actor_id, actor_name, action, subject_type,
                                     subject_id, team_id, request_id, rule, allowed, before, after, detail)
                 select id, ordinal, occurred_at, actor_type, actor_id, actor_name, action, subject_type,
                        subject_id, team_id, request_id, rule, allowed, before, after, detail
                 from jsonb_to_recordset($13::jsonb) as e(
                     nth integer, id uuid, ordinal integer, occurred_at timestamptz, actor_type text, actor_id uuid,
                     actor_name text, action text, subject_type text, subject_id uuid, team_id uuid,
                     request_id text, rule text, allowed boolean, before jsonb, after jsonb, detail jsonb)
                 where nth in (select nth from open where taken)
             )
             select nth as \"nth!\", taken as \"taken!\" from open",
            Json(&rows.heads) as _,
            Json(&rows.stands) as _,
            &rows.queues,
            Json(&rows.jobs) as _,
            &rows.keyed_nths,
            &rows.callers,
            &rows.keys,
            &rows.request_hashes,
            &rows.statuses,
            &rows.headers,
            &rows.bodies,
            &rows.created_ats,
            Json(&rows.events) as _
        )
        .fetch_all($lane.connection())
        .await
    }};
}

struct Outcome {
    nth: i32,
    taken: bool,
}

/// Puts the jobs of each submission in line. Queues and teams are locked against whoever deletes or drains them, so that
/// nothing slips in behind a count of live jobs; submissions share the lock.
///
/// Answers for each submission, in their order: [`StoreError::Duplicate`] with [`DUPLICATE`] when an equal request was
/// faster (read its reply); [`StoreError::Conflict`] when a queue was closed, a team or a pool deleted, or what was seen
/// has changed meanwhile. No two submissions of one call may have the same key.
///
/// # Errors
/// For the whole statement, nothing of which is kept: [`StoreError::NoEvent`] for a submission without a job,
/// [`StoreError::Check`] when the schema refuses a value of any. [`StoreError::Unavailable`] leaves open whether it was
/// kept.
pub async fn insert(
    store: &Store,
    submissions: &[Submission],
    patience: Patience,
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    if submissions.iter().any(|submission| submission.jobs.is_empty()) {
        return Err(StoreError::NoEvent);
    }
    let results = match submissions {
        [one] if let Some(job) = submit_one::only(one) => {
            vec![submit_one::insert(store, one, job, &submitted(job), patience).await?]
        }
        _ => insert_all(store, submissions, patience).await?,
    };
    if results.iter().any(Result::is_ok) {
        store.signals().wake_sealer();
        store.signals().wake_schedule();
    }
    Ok(results)
}

async fn insert_all(
    store: &Store,
    submissions: &[Submission],
    patience: Patience,
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    let events: Vec<Vec<NewEvent>> = submissions.iter().map(told).collect();
    let mut lane = store.lanes().take(store.pool()).await?;
    let kept = match patience {
        Patience::Wait => insert_rows!("", lane, Rows::of(submissions, &events)),
        Patience::Pass => insert_rows!(" skip locked", lane, Rows::of(submissions, &events)),
    };
    let outcomes = store.lanes().settle(lane, kept)?;
    let mut results: Vec<_> = submissions.iter().map(|_| Err(StoreError::Conflict)).collect();
    for outcome in outcomes {
        if let Some(result) = usize::try_from(outcome.nth).ok().and_then(|nth| results.get_mut(nth)) {
            *result = match outcome.taken {
                true => Ok(()),
                false => Err(StoreError::Duplicate { constraint: DUPLICATE.to_owned() }),
            };
        }
    }
    Ok(results)
}

/// One submission by itself, judged by no version: whatever its queues are now, as long as they take jobs.
///
/// # Errors
/// As [`insert`], for this one.
pub async fn insert_batch(
    store: &Store,
    context: &WriteContext,
    jobs: &[NewJob],
    reply: Option<(&IdempotencyKey, &StoredReply)>,
) -> Result<(), StoreError> {
    let submission = Submission {
        context: context.clone(),
        jobs: jobs.to_vec(),
        reply: reply.map(|(key, reply)| (key.clone(), reply.clone())),
        seen: BTreeSet::new(),
        policy_version: None,
    };
    insert(store, &[submission], Patience::Wait).await?.pop().unwrap_or(Err(StoreError::NoEvent))
}

fn told(submission: &Submission) -> Vec<NewEvent> {
    submission.jobs.iter().map(submitted).collect()
}

fn submitted(job: &NewJob) -> NewEvent {
    NewEvent::new("job.submitted", "job", job.id).team(job.team_id).after(json!({
        "name": job.name, "queue_id": job.queue_id, "kind": job.kind, "priority_class": job.priority_class,
        "gpus": job.gpus, "gpu_milli": job.gpu_milli, "min_replicas": job.min_replicas,
        "max_replicas": job.max_replicas, "held": job.held, "depends_on": job.depends_on,
    }))
}
