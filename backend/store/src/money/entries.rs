//! The ledger's lines, page by page.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::id::TeamId;
use uuid::Uuid;

/// A line with the names that people know.
#[derive(Debug, Clone)]
pub struct EntryRow {
    pub id: i64,
    pub hour: DateTime<Utc>,
    pub pool_slug: String,
    pub share: String,
    pub team_slug: Option<String>,
    pub lender_slug: Option<String>,
    pub queue_slug: Option<String>,
    pub job_id: Option<Uuid>,
    pub job_name: Option<String>,
    pub kind: Option<String>,
    pub priority_class: Option<String>,
    pub gpu_milli: i64,
    pub started_at: DateTime<Utc>,
    pub ended_at: DateTime<Utc>,
}

impl EntryRow {
    /// Milli-GPU-milliseconds.
    #[must_use]
    pub fn amount(&self) -> i64 {
        self.gpu_milli * (self.ended_at - self.started_at).num_milliseconds()
    }
}

/// Which lines.
#[derive(Debug, Clone)]
pub struct EntryFilter {
    pub from: DateTime<Utc>,
    pub to: DateTime<Utc>,
    /// On whose bill; `None` = all, nobody's included.
    pub teams: Option<Vec<TeamId>>,
}

impl EntryFilter {
    fn teams(&self) -> Option<Vec<Uuid>> {
        self.teams.as_ref().map(|teams| teams.iter().map(|team| team.0).collect())
    }
}

/// After a place, in order of hour and id.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn page(
    store: &Store,
    filter: &EntryFilter,
    after: (DateTime<Utc>, i64),
    limit: i64,
) -> Result<Vec<EntryRow>, StoreError> {
    let teams = filter.teams();
    Ok(sqlx::query_as!(
        EntryRow,
        r#"select e.id, e.hour, p.slug as pool_slug, e.share, t.slug as "team_slug?", l.slug as "lender_slug?",
                  q.slug as "queue_slug?", e.job_id, j.name as "job_name?", e.kind, e.priority_class, e.gpu_milli,
                  e.started_at, e.ended_at
           from ledger_entries e join pools p on p.id = e.pool_id left join teams t on t.id = e.team_id
           left join teams l on l.id = e.lender_team_id left join queues q on q.id = e.queue_id
           left join jobs j on j.id = e.job_id
           where e.hour >= $1 and e.hour < $2 and ($3::uuid[] is null or e.team_id = any($3))
             and (e.hour, e.id) > ($4, $5) order by e.hour, e.id limit $6"#,
        filter.from,
        filter.to,
        teams.as_deref(),
        after.0,
        after.1,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// How many lines [`page`] will give.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn count(store: &Store, filter: &EntryFilter) -> Result<i64, StoreError> {
    let teams = filter.teams();
    Ok(sqlx::query_scalar!(
        r#"select count(*) as "count!" from ledger_entries
           where hour >= $1 and hour < $2 and ($3::uuid[] is null or team_id = any($3))"#,
        filter.from,
        filter.to,
        teams.as_deref()
    )
    .fetch_one(store.pool())
    .await?)
}
