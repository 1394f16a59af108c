//! Queues, what stands in them, and the line in the real order of service.
//!
//! This module refuses to decide that order: the planner numbers each waiting job in its explanation, and the
//! line shows those numbers.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::{QueueId, TeamId};
use reeve_core::queue::{QueueOrder, QueueState};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// A queue with its team's names.
#[derive(Debug, Clone, Deserialize)]
pub struct Queue {
    pub id: Uuid,
    pub slug: String,
    pub name: String,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub order: String,
    pub state: String,
    pub allowed_kinds: Option<Vec<String>>,
    pub max_running_jobs: Option<i32>,
    pub max_running_jobs_per_user: Option<i32>,
    pub max_running_gpus: Option<i32>,
    pub version: i64,
    pub created_at: DateTime<Utc>,
}

/// The editable part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueTerms {
    pub name: String,
    pub order: QueueOrder,
    pub state: QueueState,
    pub allowed_kinds: Option<Vec<String>>,
    pub max_running_jobs: Option<i32>,
    pub max_running_jobs_per_user: Option<i32>,
    pub max_running_gpus: Option<i32>,
}

impl QueueTerms {
    fn as_json(&self) -> Value {
        json!({
            "name": self.name,
            "order": self.order,
            "state": self.state,
            "allowed_kinds": self.allowed_kinds,
            "max_running_jobs": self.max_running_jobs,
            "max_running_jobs_per_user": self.max_running_jobs_per_user,
            "max_running_gpus": self.max_running_gpus,
        })
    }
}

/// What a queue holds now.
#[derive(Debug, Clone, Default)]
pub struct QueueFigures {
    pub queue_id: Uuid,
    pub queued: i64,
    pub starting: i64,
    pub running: i64,
    pub leaving: i64,
    pub used_milli: i64,
    pub pending_milli: i64,
    pub oldest_waiting_at: Option<DateTime<Utc>>,
}

/// One job in the line.
#[derive(Debug, Clone)]
pub struct InLine {
    pub id: Uuid,
    pub name: String,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub state: String,
    pub gpu_milli_total: i64,
    pub priority_class: String,
    pub submitted_at: DateTime<Utc>,
    pub reason_code: Option<String>,
    /// As the planner numbered it last; none before its first look.
    pub planner_position: Option<i64>,
    /// 0 = already being served, 1 = waits.
    pub stage: i32,
    pub place: i64,
}

macro_rules! select_queues {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            Queue,
            r#"select q.id, q.slug, q.name, q.team_id, t.slug as team_slug, t.name as team_name, q."order", q.state,
                      q.allowed_kinds, q.max_running_jobs, q.max_running_jobs_per_user, q.max_running_gpus,
                      q.version, q.created_at
               from queues q join teams t on t.id = q.team_id "# + $rest
            $(, $argument)*
        )
    };
}

/// Queues by slug, of one team or of all.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    team: Option<TeamId>,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<Queue>, StoreError> {
    Ok(select_queues!(
        "where q.deleted_at is null and ($1::uuid is null or q.team_id = $1) and ($2::text is null or q.slug > $2)
         order by q.slug limit $3",
        team.map(|id| id.0),
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// A queue by its id or slug.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn find(store: &Store, name: &str) -> Result<Queue, StoreError> {
    let id: Option<Uuid> = name.parse().ok();
    Ok(select_queues!("where q.deleted_at is null and (q.slug = $1 or q.id = $2)", name, id)
        .fetch_one(store.pool())
        .await?)
}

/// What these queues hold, one row each that holds anything.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn figures(store: &Store, queues: &[Uuid]) -> Result<Vec<QueueFigures>, StoreError> {
    Ok(sqlx::query_as!(
        QueueFigures,
        r#"select j.queue_id,
                  count(*) filter (where j.state = 'queued') as "queued!",
                  count(*) filter (where j.state = 'starting') as "starting!",
                  count(*) filter (where j.state = 'running') as "running!",
                  count(*) filter (where j.state = 'leaving') as "leaving!",
                  coalesce(sum(i.gpu_milli), 0)::bigint as "used_milli!",
                  coalesce(sum(j.gpus * coalesce(j.gpu_milli, 1000) * j.min_replicas)
                             filter (where j.state = 'queued'), 0)::bigint as "pending_milli!",
                  min(j.submitted_at) filter (where j.state = 'queued') as oldest_waiting_at
           from jobs j
           left join runs r on r.job_id = j.id and r.ended_at is null
           left join usage_intervals i on i.run_id = r.id and i.ended_at is null
           where j.queue_id = any($1) and j.state in ('queued', 'starting', 'running', 'leaving')
           group by 1"#,
        queues
    )
    .fetch_all(store.pool())
    .await?)
}

/// The line: what is served already, by age; then what waits, by the planner's numbers; then what it has not
/// looked at yet, by age.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn line(
    store: &Store,
    queue: QueueId,
    after: Option<i64>,
    limit: i64,
) -> Result<Vec<InLine>, StoreError> {
    Ok(sqlx::query_as!(
        InLine,
        r#"select * from (
             select j.id, j.name, j.team_id, t.slug as team_slug, t.name as team_name, j.state,
                    (j.gpus * coalesce(j.gpu_milli, 1000) * j.min_replicas)::bigint as "gpu_milli_total!",
                    j.priority_class, j.submitted_at, j.reason_code,
                    nullif((j.reason ->> 'position')::bigint, 0) as planner_position,
                    case j.state when 'queued' then 1 else 0 end as "stage!",
                    row_number() over (order by case j.state when 'queued' then 1 else 0 end,
                      nullif((j.reason ->> 'position')::bigint, 0) nulls last, j.submitted_at, j.id) as "place!"
             from jobs j join teams t on t.id = j.team_id
             where j.queue_id = $1 and j.state in ('queued', 'starting', 'running', 'leaving')
           ) line
           where "place!" > coalesce($2::bigint, 0) order by "place!" limit $3"#,
        queue.0,
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// A new queue.
///
/// # Errors
/// [`StoreError::Duplicate`] when the slug is taken.
pub async fn create(
    tx: &mut WriteTx,
    team: TeamId,
    slug: &str,
    terms: &QueueTerms,
) -> Result<Queue, StoreError> {
    let (id, now) = (QueueId::mint(tx.now()), tx.now());
    sqlx::query!(
        r#"insert into queues (id, team_id, slug, name, "order", state, allowed_kinds, max_running_jobs,
                               max_running_jobs_per_user, max_running_gpus, created_at, updated_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)"#,
        id.0,
        team.0,
        slug,
        terms.name,
        terms.order.as_str(),
        terms.state.as_str(),
        terms.allowed_kinds.as_deref(),
        terms.max_running_jobs,
        terms.max_running_jobs_per_user,
        terms.max_running_gpus,
        now
    )
    .execute(tx.connection())
    .await?;
    tx.record(NewEvent::new("queue.created", "queue", id.0).team(team).after(terms.as_json()));
    Ok(select_queues!("where q.id = $1", id.0).fetch_one(tx.connection()).await?)
}

/// Changes a queue that is still as seen.
///
/// # Errors
/// [`StoreError::Conflict`] when it changed meanwhile.
pub async fn update(tx: &mut WriteTx, before: &Queue, terms: &QueueTerms) -> Result<Queue, StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        r#"update queues set name = $3, "order" = $4, state = $5, allowed_kinds = $6, max_running_jobs = $7,
             max_running_jobs_per_user = $8, max_running_gpus = $9, version = version + 1, updated_at = $10
           where id = $1 and version = $2 and deleted_at is null"#,
        before.id,
        before.version,
        terms.name,
        terms.order.as_str(),
        terms.state.as_str(),
        terms.allowed_kinds.as_deref(),
        terms.max_running_jobs,
        terms.max_running_jobs_per_user,
        terms.max_running_gpus,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    tx.record(
        NewEvent::new("queue.edited", "queue", before.id)
            .team(TeamId(before.team_id))
            .before(terms_of(before)?.as_json())
            .after(terms.as_json()),
    );
    tx.wake_schedule();
    Ok(select_queues!("where q.id = $1", before.id).fetch_one(tx.connection()).await?)
}

/// Deletes a queue without live jobs. `Ok(n)` with `n` > 0: refused, `n` jobs are live.
///
/// # Errors
/// [`StoreError::Conflict`] when the queue changed meanwhile.
pub async fn delete(tx: &mut WriteTx, queue: &Queue) -> Result<i64, StoreError> {
    let now = tx.now();
    // The row lock first: a submission shares it, so no job can slip in between count and delete.
    let done = sqlx::query!(
        "update queues set deleted_at = $3, updated_at = $3, version = version + 1
         where id = $1 and version = $2 and deleted_at is null",
        queue.id,
        queue.version,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    let live = sqlx::query_scalar!(
        r#"select count(*) as "live!" from jobs
           where queue_id = $1 and state in ('queued', 'starting', 'running', 'leaving')"#,
        queue.id
    )
    .fetch_one(tx.connection())
    .await?;
    if live == 0 {
        tx.record(
            NewEvent::new("queue.deleted", "queue", queue.id)
                .team(TeamId(queue.team_id))
                .before(terms_of(queue)?.as_json()),
        );
    }
    Ok(live)
}

/// The editable part as it is.
///
/// # Errors
/// [`StoreError::Unreadable`] for a word that this version does not know.
pub fn terms_of(queue: &Queue) -> Result<QueueTerms, StoreError> {
    Ok(QueueTerms {
        name: queue.name.clone(),
        order: queue.order.parse()?,
        state: queue.state.parse()?,
        allowed_kinds: queue.allowed_kinds.clone(),
        max_running_jobs: queue.max_running_jobs,
        max_running_jobs_per_user: queue.max_running_jobs_per_user,
        max_running_gpus: queue.max_running_gpus,
    })
}

/// Those of the slugs that no queue has.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn unknown(store: &Store, slugs: &[String]) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"select s.slug as "slug!" from unnest($1::text[]) as s(slug)
           where not exists (select 1 from queues q where q.slug = s.slug and q.deleted_at is null)"#,
        slugs
    )
    .fetch_all(store.pool())
    .await?)
}
