//! Evictions with their records: who asked, by which rule, why this one.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::id::{EvictionId, JobId, TeamId};
use reeve_core::schedule::plan::EvictionRecord;
use std::collections::BTreeMap;
use uuid::Uuid;

/// One eviction with the names of what it joins.
#[derive(Debug, Clone)]
pub struct Eviction {
    pub id: Uuid,
    pub reclaim_id: Uuid,
    pub job_id: Uuid,
    pub job_name: String,
    pub run_number: i32,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub members: Vec<i32>,
    pub surplus_only: bool,
    pub gpu_milli: i64,
    pub cause: String,
    pub outcome: String,
    pub record: serde_json::Value,
    pub notified_at: DateTime<Utc>,
    pub leave_by: DateTime<Utc>,
    pub checkpointed_at: Option<DateTime<Utc>>,
    pub vacated_at: Option<DateTime<Utc>>,
}

impl Eviction {
    /// The planner's record.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] when it has another shape.
    pub fn record(&self) -> Result<EvictionRecord, StoreError> {
        Ok(serde_json::from_value(self.record.clone())?)
    }
}

/// What a list may be narrowed to.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub team: Option<TeamId>,
    pub job: Option<JobId>,
    pub cause: Option<String>,
    /// Only victims of these teams, which may be none; `None` = all.
    pub readable: Option<Vec<Uuid>>,
}

macro_rules! select_evictions {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            Eviction,
            "select e.id, e.reclaim_id, e.job_id, j.name as job_name, e.run_number, e.team_id, t.slug as team_slug,
                    t.name as team_name, e.members, e.surplus_only, e.gpu_milli, e.cause, e.outcome, e.record,
                    e.notified_at, e.leave_by, e.checkpointed_at, e.vacated_at
             from evictions e join jobs j on j.id = e.job_id join teams t on t.id = e.team_id " + $rest
            $(, $argument)*
        )
    };
}

/// Newest first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    filter: &Filter,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Eviction>, StoreError> {
    Ok(select_evictions!(
        "where ($1::uuid is null or e.team_id = $1) and ($2::uuid is null or e.job_id = $2)
           and ($3::text is null or e.cause = $3) and ($4::uuid[] is null or e.team_id = any($4))
           and ($5::uuid is null or e.id < $5)
         order by e.id desc limit $6",
        filter.team.map(|id| id.0),
        filter.job.map(|id| id.0),
        filter.cause.as_deref(),
        filter.readable.as_deref(),
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// One eviction.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn get(store: &Store, id: EvictionId) -> Result<Eviction, StoreError> {
    Ok(select_evictions!("where e.id = $1", id.0).fetch_one(store.pool()).await?)
}

/// All evictions of these reclaims, oldest first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn of_reclaims(store: &Store, reclaims: &[Uuid]) -> Result<Vec<Eviction>, StoreError> {
    Ok(select_evictions!("where e.reclaim_id = any($1) order by e.id", reclaims)
        .fetch_all(store.pool())
        .await?)
}

/// Those of these jobs that are leaving for `evictor`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn awaited_by(store: &Store, evictor: JobId) -> Result<Vec<Eviction>, StoreError> {
    Ok(select_evictions!(
        "join reclaims c on c.id = e.reclaim_id
         where c.evictor_job_id = $1 and c.state = 'waiting' and e.outcome = 'leaving' order by e.leave_by, e.id",
        evictor.0
    )
    .fetch_all(store.pool())
    .await?)
}

/// Names of these nodes, also of those that were removed.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn node_names(store: &Store, nodes: &[Uuid]) -> Result<BTreeMap<Uuid, String>, StoreError> {
    if nodes.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows =
        sqlx::query!("select id, name from nodes where id = any($1)", nodes).fetch_all(store.pool()).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.name)).collect())
}

/// Names for what records point to.
#[derive(Debug, Clone, Default)]
pub struct Names {
    pub jobs: BTreeMap<Uuid, JobName>,
    pub teams: BTreeMap<Uuid, TeamName>,
}

#[derive(Debug, Clone)]
pub struct JobName {
    pub id: Uuid,
    pub name: String,
    pub team_id: Uuid,
}

#[derive(Debug, Clone)]
pub struct TeamName {
    pub id: Uuid,
    pub slug: String,
    pub name: String,
}

/// Names of these jobs, of their teams, and of these teams: two queries for a whole page.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn names(store: &Store, jobs: &[Uuid], teams: &[Uuid]) -> Result<Names, StoreError> {
    let jobs = sqlx::query_as!(JobName, "select id, name, team_id from jobs where id = any($1)", jobs)
        .fetch_all(store.pool())
        .await?;
    let mut wanted = teams.to_vec();
    wanted.extend(jobs.iter().map(|job| job.team_id));
    let teams = sqlx::query_as!(TeamName, "select id, slug, name from teams where id = any($1)", &wanted)
        .fetch_all(store.pool())
        .await?;
    Ok(Names {
        jobs: jobs.into_iter().map(|job| (job.id, job)).collect(),
        teams: teams.into_iter().map(|team| (team.id, team)).collect(),
    })
}
