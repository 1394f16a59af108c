//! Jobs that wait for the end of others: what they wait for, and what becomes of them when it has ended.
//!
//! Whether a condition is met is written by a trigger with the end itself. This module refuses to let a job go on whose
//! condition can never be met: it is cancelled, and with it, in their turn, those that waited for its success.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{Actor, NewEvent, WriteContext, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::{JobId, TeamId};
use serde_json::json;
use sqlx::PgExecutor;
use uuid::Uuid;

/// A job that is waited for, or that waits.
#[derive(Debug, Clone)]
pub struct Other {
    pub id: Uuid,
    pub name: String,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub user_id: Uuid,
    pub state: String,
    pub condition: String,
    /// `None` = it has not ended.
    pub met: Option<bool>,
}

/// A job that might be waited for.
#[derive(Debug, Clone)]
pub struct Target {
    pub id: Uuid,
    pub team_id: Uuid,
    pub user_id: Uuid,
    pub state: String,
}

/// What [`settle`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    pub released: usize,
    pub cancelled: usize,
}

/// Those of the jobs that exist.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn targets(store: &Store, ids: &[Uuid]) -> Result<Vec<Target>, StoreError> {
    Ok(sqlx::query_as!(Target, "select id, team_id, user_id, state from jobs where id = any($1)", ids)
        .fetch_all(store.pool())
        .await?)
}

/// What the job waits for, in the order of their ids; at most `limit`, after `after`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn waits_for(
    store: &Store,
    job: JobId,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Other>, StoreError> {
    Ok(sqlx::query_as!(
        Other,
        "select j.id, j.name, j.team_id, t.slug as team_slug, t.name as team_name, j.user_id, j.state, d.condition, d.met
         from job_dependencies d join jobs j on j.id = d.depends_on join teams t on t.id = j.team_id
         where d.job_id = $1 and ($2::uuid is null or d.depends_on > $2) order by d.depends_on limit $3",
        job.0,
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// Who waits for the job, likewise.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn waited_for_by(
    store: &Store,
    job: JobId,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Other>, StoreError> {
    Ok(sqlx::query_as!(
        Other,
        "select j.id, j.name, j.team_id, t.slug as team_slug, t.name as team_name, j.user_id, j.state, d.condition, d.met
         from job_dependencies d join jobs j on j.id = d.job_id join teams t on t.id = j.team_id
         where d.depends_on = $1 and ($2::uuid is null or d.job_id > $2) order by d.job_id limit $3",
        job.0,
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

struct Due {
    id: Uuid,
    team_id: Uuid,
    /// Some condition can never be met.
    lost: bool,
    /// The first of those, how it ended, and how it should have.
    because: Option<Uuid>,
    ended: Option<String>,
    condition: Option<String>,
}

/// Ends that are looked at together.
const MOST: i64 = 10_000;

/// Lets those go whose conditions are met, and cancels those whose conditions cannot be. Asks for nothing but ends that
/// were not settled yet; two servers at once settle each of them once.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn settle(store: &Store, now: DateTime<Utc>) -> Result<Settled, StoreError> {
    let ends = sqlx::query!(
        "select job_id, depends_on from job_dependencies where met is not null and not settled limit $1",
        MOST
    )
    .fetch_all(store.pool())
    .await?;
    if ends.is_empty() {
        return Ok(Settled { released: 0, cancelled: 0 });
    }
    let (jobs, others): (Vec<Uuid>, Vec<Uuid>) = ends.iter().map(|end| (end.job_id, end.depends_on)).unzip();
    let context = WriteContext { actor: Actor::system("dependencies"), request_id: None, now };
    let mut tx = store.begin(context).await?;
    let due = due(&mut tx, &jobs).await?;
    if due.is_empty() {
        // They wait for more, or are gone: nothing happened that anybody need be told.
        tx.rollback().await?;
        mark(store.pool(), &jobs, &others).await?;
        return Ok(Settled { released: 0, cancelled: 0 });
    }
    let (lost, free): (Vec<&Due>, Vec<&Due>) = due.iter().partition(|due| due.lost);
    release(&mut tx, &free).await?;
    cancel(&mut tx, &lost).await?;
    mark(tx.connection(), &jobs, &others).await?;
    tx.wake_schedule();
    tx.commit().await?;
    Ok(Settled { released: free.len(), cancelled: lost.len() })
}

/// Those of the jobs for which it is decided, locked.
async fn due(tx: &mut WriteTx, jobs: &[Uuid]) -> Result<Vec<Due>, StoreError> {
    Ok(sqlx::query_as!(
        Due,
        r#"select j.id, j.team_id, lost.depends_on is not null as "lost!", lost.depends_on as "because?",
                  lost.state as "ended?", lost.condition as "condition?"
           from jobs j left join lateral (
               select d.depends_on, o.state, d.condition from job_dependencies d join jobs o on o.id = d.depends_on
               where d.job_id = j.id and not d.met order by d.depends_on limit 1
           ) lost on true
           where j.id = any($1) and j.waits_for_jobs and j.state = 'queued'
             and (lost.depends_on is not null
                  or not exists (select from job_dependencies d where d.job_id = j.id and d.met is null))
           order by j.id for update of j"#,
        jobs
    )
    .fetch_all(tx.connection())
    .await?)
}

async fn release(tx: &mut WriteTx, free: &[&Due]) -> Result<(), StoreError> {
    let now = tx.now();
    sqlx::query!(
        "update jobs set waits_for_jobs = false, reason_code = null, reason = null, reason_at = null, reason_hash = null,
           version = version + 1, updated_at = $2 where id = any($1)",
        &ids(free),
        now
    )
    .execute(tx.connection())
    .await?;
    for due in free {
        tx.record(NewEvent::new("job.dependencies_met", "job", due.id).team(TeamId(due.team_id)));
    }
    Ok(())
}

async fn cancel(tx: &mut WriteTx, lost: &[&Due]) -> Result<(), StoreError> {
    let now = tx.now();
    let whys: Vec<String> = lost.iter().map(|due| why(due)).collect();
    sqlx::query!(
        "update jobs set state = 'cancelled', waits_for_jobs = false, held = false, finished_at = $2,
           end_cause = 'dependency_never_met', end_detail = why.text, reason_code = null, reason = null, reason_at = null,
           reason_hash = null, version = version + 1, updated_at = $2
         from unnest($1::uuid[], $3::text[]) as why(id, text) where jobs.id = why.id",
        &ids(lost),
        now,
        &whys
    )
    .execute(tx.connection())
    .await?;
    for (due, why) in lost.iter().zip(whys) {
        tx.record(NewEvent::new("job.cancelled", "job", due.id).team(TeamId(due.team_id)).detail(json!({
            "reason": why, "cause": "dependency_never_met", "depends_on": due.because, "condition": due.condition,
        })));
    }
    Ok(())
}

async fn mark(executor: impl PgExecutor<'_>, jobs: &[Uuid], others: &[Uuid]) -> Result<(), StoreError> {
    sqlx::query!(
        "update job_dependencies d set settled = true from unnest($1::uuid[], $2::uuid[]) as e(job_id, depends_on)
         where d.job_id = e.job_id and d.depends_on = e.depends_on",
        jobs,
        others
    )
    .execute(executor)
    .await?;
    Ok(())
}

fn ids(due: &[&Due]) -> Vec<Uuid> {
    due.iter().map(|due| due.id).collect()
}

fn why(due: &Due) -> String {
    let other = due.because.map(|id| id.to_string()).unwrap_or_default();
    let wanted = match due.condition.as_deref() {
        Some("ok") => "success",
        _ => "failure",
    };
    format!(
        "it waited for the {wanted} of job {other}, which {}",
        due.ended.as_deref().unwrap_or("has ended")
    )
}
