//! Which jobs an escalation reaches: what they hold, what the ledger says of them, and what job pages show.

use super::row::EscalationRow;
use crate::connect::Store;
use crate::error::StoreError;
use crate::ledger;
use crate::row::word;
use crate::write_tx::WriteTx;
use chrono::{DateTime, Utc};
use reeve_core::approval::{Exception, Raise, Scope};
use reeve_core::id::{JobId, QueueId, TeamId};
use reeve_core::kind::Kind;
use reeve_core::priority::PriorityClass;
use sqlx::PgConnection;
use std::collections::BTreeMap;
use uuid::Uuid;

/// What is active at `now`, as the planner applies it. What was to begin or end by then counts so, whether or not the
/// loop has come to it.
pub(crate) async fn load_exceptions(
    connection: &mut PgConnection,
    now: DateTime<Utc>,
) -> Result<Vec<Exception>, StoreError> {
    let rows = sqlx::query!(
        r#"select asks_for, team_id, job_id, queue_id, kinds, scope, granted ->> 'level' as level
           from escalations
           where asks_for in ('priority', 'never_evict')
             and (state = 'active' and expires_at > $1 or state = 'approved' and starts_at <= $1) order by id"#,
        now
    )
    .fetch_all(connection)
    .await?;
    let mut exceptions = Vec::with_capacity(rows.len());
    for row in rows {
        match (row.level, row.scope, row.job_id) {
            (Some(level), Some(scope), job) => {
                let kinds = row.kinds.map(|kinds| kinds.iter().map(|kind| word::<Kind>(kind)).collect());
                exceptions.push(Exception::Raise(Raise {
                    team: TeamId(row.team_id),
                    job: job.map(JobId),
                    queue: row.queue_id.map(QueueId),
                    kinds: kinds.transpose()?,
                    level: word::<PriorityClass>(&level)?,
                    scope: word::<Scope>(&scope)?,
                }));
            }
            (_, _, Some(job)) => exceptions.push(Exception::NeverEvict(JobId(job))),
            _ => {}
        }
    }
    Ok(exceptions)
}

/// Whom a request reaches.
#[derive(Debug, Clone, Copy)]
pub struct Reach<'a> {
    pub team: TeamId,
    pub job: Option<JobId>,
    pub queue: Option<QueueId>,
    pub kinds: Option<&'a [Kind]>,
}

/// What the live jobs that it reaches hold, or will hold when they start, in milli-GPU.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn reached_milli(store: &Store, reach: Reach<'_>) -> Result<i64, StoreError> {
    let kinds: Option<Vec<String>> = reach.kinds.map(|kinds| kinds.iter().map(ToString::to_string).collect());
    Ok(sqlx::query_scalar!(
        r#"with recursive below as (
             select id from teams where id = $1
             union
             select t.id from teams t join below b on t.parent_id = b.id
           )
           select coalesce(sum(j.gpus::bigint * coalesce(j.gpu_milli, 1000) * greatest(j.min_replicas,
                    (select count(*) from members m where m.job_id = j.id and m.state <> 'ended'))), 0)::bigint as "milli!"
           from jobs j
           where j.state in ('queued', 'starting', 'running', 'leaving') and j.team_id in (select id from below)
             and ($2::uuid is null or j.id = $2) and ($3::uuid is null or j.queue_id = $3)
             and ($4::text[] is null or j.kind = any($4))"#,
        reach.team.0,
        reach.job.map(|id| id.0),
        reach.queue.map(|id| id.0),
        kinds.as_deref()
    )
    .fetch_one(store.pool())
    .await?)
}

/// Whether the job that it is about has ended.
pub(super) async fn job_has_ended(tx: &mut WriteTx, row: &EscalationRow) -> Result<bool, StoreError> {
    let Some(job) = row.job_id else { return Ok(false) };
    Ok(sqlx::query_scalar!(
        r#"select state in ('succeeded', 'failed', 'cancelled') as "ended!" from jobs where id = $1"#,
        job
    )
    .fetch_one(tx.connection())
    .await?)
}

/// The usage of the jobs that it reaches goes on under the class that counts from `at` on.
pub(super) async fn settle_ledger(
    tx: &mut WriteTx,
    row: &EscalationRow,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let runs = sqlx::query_scalar!(
        "with recursive below as (
             select id from teams where id = $1
             union
             select t.id from teams t join below b on t.parent_id = b.id
           )
           select r.id from runs r join jobs j on j.id = r.job_id
           where r.ended_at is null and j.team_id in (select id from below)
             and ($2::uuid is null or j.id = $2) and ($3::uuid is null or j.queue_id = $3)
             and ($4::text[] is null or j.kind = any($4)) order by r.id for update of r",
        row.team_id,
        row.job_id,
        row.queue_id,
        row.kinds.as_deref()
    )
    .fetch_all(tx.connection())
    .await?;
    ledger::settle(tx.connection(), &runs, at).await
}

/// An active raise, as a job's page shows it.
#[derive(Debug, Clone)]
pub struct RaisedJob {
    pub escalation_id: Uuid,
    pub level: String,
    pub scope: String,
    pub until: Option<DateTime<Utc>>,
}

/// Those of these jobs that an active escalation raises above their own class, with the highest.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn raised(store: &Store, jobs: &[Uuid]) -> Result<BTreeMap<Uuid, RaisedJob>, StoreError> {
    let rows = sqlx::query!(
        r#"select distinct on (j.id) j.id as job_id, e.id as escalation_id, e.granted ->> 'level' as "level!",
                  e.scope as "scope!", e.expires_at
           from escalations e join jobs j on j.id = any($1)
           where e.state = 'active' and e.asks_for = 'priority'
             and class_rank(e.granted ->> 'level') > class_rank(j.priority_class)
             and (e.job_id = j.id or e.job_id is null
                  and (e.queue_id is null or e.queue_id = j.queue_id)
                  and (e.kinds is null or j.kind = any(e.kinds))
                  and e.team_id in (with recursive up as (
                                      select id, parent_id from teams where id = j.team_id
                                      union
                                      select t.id, t.parent_id from teams t join up on t.id = up.parent_id
                                    ) select id from up))
           order by j.id, class_rank(e.granted ->> 'level') desc, e.expires_at desc"#,
        jobs
    )
    .fetch_all(store.pool())
    .await?;
    let raised = rows.into_iter().map(|row| {
        let (level, scope) = (row.level, row.scope);
        (row.job_id, RaisedJob { escalation_id: row.escalation_id, level, scope, until: row.expires_at })
    });
    Ok(raised.collect())
}
