//! Notices to be shown: who does not use its GPUs, since when, and what follows.

use crate::connect::Store;
use crate::error::StoreError;
use crate::row::word;
use chrono::{DateTime, Utc};
use reeve_core::id::JobId;
use reeve_core::idle;
use uuid::Uuid;

/// A notice with the names of what it points to.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    pub id: Uuid,
    pub job_id: Uuid,
    pub job_name: String,
    pub kind: String,
    pub run_number: i32,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub user_id: Uuid,
    pub username: String,
    pub display_name: String,
    pub pool_slug: Option<String>,
    pub state: String,
    pub action: String,
    pub protected: bool,
    pub idle_since: DateTime<Utc>,
    pub window_secs: i64,
    pub samples: i64,
    pub expected: i64,
    pub busy_above_permille: i32,
    pub gpu_milli: i64,
    pub notified_at: DateTime<Utc>,
    pub act_at: DateTime<Utc>,
    pub snoozed_secs: i64,
    pub snoozed_by: Option<String>,
    pub acted_at: Option<DateTime<Utc>>,
    pub closed_at: Option<DateTime<Utc>>,
    pub close_reason: Option<String>,
    pub version: i64,
}

impl Notice {
    /// As the rules see it.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] for a word that this version does not know.
    pub fn in_core(&self) -> Result<idle::Notice, StoreError> {
        Ok(idle::Notice {
            state: word(&self.state)?,
            notified_at: self.notified_at,
            act_at: self.act_at,
            snoozed_secs: self.snoozed_secs,
        })
    }
}

macro_rules! select_notices {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            $crate::idle::list::Notice,
            r#"select n.id, n.job_id, j.name as job_name, j.kind, n.run_number, n.team_id, t.slug as team_slug,
                      t.name as team_name, u.id as user_id, u.username, u.display_name, p.slug as "pool_slug?", n.state,
                      n.action, n.protected, n.idle_since, n.window_secs, n.samples, n.expected, n.busy_above_permille,
                      n.gpu_milli, n.notified_at, n.act_at, n.snoozed_secs, s.username as "snoozed_by?", n.acted_at,
                      n.closed_at, n.close_reason, n.version
               from idle_notices n join jobs j on j.id = n.job_id join teams t on t.id = n.team_id
               join users u on u.id = j.user_id
               left join runs r on r.job_id = n.job_id and r.number = n.run_number
               left join pools p on p.id = r.pool_id
               left join users s on s.id = n.snoozed_by "# + $rest
            $(, $argument)*
        )
    };
}
pub(crate) use select_notices;

/// What a list may be narrowed to.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only of these teams, which may be none; `None` = all.
    pub readable: Option<Vec<Uuid>>,
    /// A team with everything below it.
    pub teams: Option<Vec<Uuid>>,
    pub job: Option<JobId>,
    /// Only those that are not over.
    pub open: bool,
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
) -> Result<Vec<Notice>, StoreError> {
    Ok(select_notices!(
        "where ($1::uuid[] is null or n.team_id = any($1)) and ($2::uuid[] is null or n.team_id = any($2))
           and ($3::uuid is null or n.job_id = $3) and (not $4 or n.closed_at is null)
           and ($5::uuid is null or n.id < $5)
         order by n.id desc limit $6",
        filter.readable.as_deref(),
        filter.teams.as_deref(),
        filter.job.map(|id| id.0),
        filter.open,
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// The open notices of these jobs.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn open_of_jobs(store: &Store, jobs: &[Uuid]) -> Result<Vec<Notice>, StoreError> {
    Ok(select_notices!("where n.job_id = any($1) and n.closed_at is null", jobs)
        .fetch_all(store.pool())
        .await?)
}
