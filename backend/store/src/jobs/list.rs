//! Lists of jobs, and how many there are of each state.

use super::row::{JobRow, select_jobs};
use crate::connect::Store;
use crate::error::StoreError;
use reeve_core::id::{PoolId, QueueId, UserId};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A count goes no further than this.
pub const MOST_COUNTED: i64 = 100_000;

/// What a list may be narrowed to.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only jobs of these teams, which may be none; `None` = all.
    pub readable: Option<Vec<Uuid>>,
    /// A team with everything below it.
    pub teams: Option<Vec<Uuid>>,
    pub queue: Option<QueueId>,
    pub states: Option<Vec<String>>,
    pub kind: Option<String>,
    pub user: Option<UserId>,
    /// Runs there, or would.
    pub pool: Option<PoolId>,
    pub name_contains: Option<String>,
    pub reason: Option<String>,
    /// Labels that the job must all have.
    pub labels: Option<serde_json::Value>,
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
) -> Result<Vec<JobRow>, StoreError> {
    Ok(select_jobs!(
        "where ($1::uuid[] is null or j.team_id = any($1)) and ($2::uuid[] is null or j.team_id = any($2))
           and ($3::uuid is null or j.queue_id = $3) and ($4::text[] is null or j.state = any($4))
           and ($5::text is null or j.kind = $5) and ($6::uuid is null or j.user_id = $6)
           and ($7::uuid is null or $7 = any(j.pool_ids) or r.pool_id = $7)
           and ($8::text is null or position(lower($8) in lower(j.name)) > 0)
           and ($9::text is null or (j.reason_code = $9 and j.state = 'queued'))
           and ($10::jsonb is null or j.labels @> $10)
           and ($11::uuid is null or j.id < $11)
         order by j.id desc limit $12",
        filter.readable.as_deref(),
        filter.teams.as_deref(),
        filter.queue.map(|id| id.0),
        filter.states.as_deref(),
        filter.kind.as_deref(),
        filter.user.map(|id| id.0),
        filter.pool.map(|id| id.0),
        filter.name_contains.as_deref(),
        filter.reason.as_deref(),
        filter.labels.as_ref(),
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// How many jobs of each state the filter has, its own states left aside; each count stops at [`MOST_COUNTED`].
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn counts(store: &Store, filter: &Filter) -> Result<BTreeMap<String, i64>, StoreError> {
    let rows = sqlx::query!(
        r#"select s.state as "state!", c.n as "n!"
           from unnest(array['queued', 'starting', 'running', 'leaving', 'succeeded', 'failed', 'cancelled'])
                  as s(state),
                lateral (select count(*) as n from (
                  select 1 from jobs j
                  left join runs r on $6::uuid is not null and r.job_id = j.id and r.ended_at is null
                  where j.state = s.state and ($1::uuid[] is null or j.team_id = any($1))
                    and ($2::uuid[] is null or j.team_id = any($2)) and ($3::uuid is null or j.queue_id = $3)
                    and ($4::text is null or j.kind = $4) and ($5::uuid is null or j.user_id = $5)
                    and ($6::uuid is null or $6 = any(j.pool_ids) or r.pool_id = $6)
                    and ($7::text is null or position(lower($7) in lower(j.name)) > 0)
                    and ($8::text is null or (j.reason_code = $8 and j.state = 'queued'))
                    and ($9::jsonb is null or j.labels @> $9)
                  limit $10) as found) as c"#,
        filter.readable.as_deref(),
        filter.teams.as_deref(),
        filter.queue.map(|id| id.0),
        filter.kind.as_deref(),
        filter.user.map(|id| id.0),
        filter.pool.map(|id| id.0),
        filter.name_contains.as_deref(),
        filter.reason.as_deref(),
        filter.labels.as_ref(),
        MOST_COUNTED
    )
    .fetch_all(store.pool())
    .await?;
    Ok(rows.into_iter().map(|row| (row.state, row.n)).collect())
}
