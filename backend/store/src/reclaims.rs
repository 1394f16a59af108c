//! Reclaims: victims chosen together for one asking job.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::id::{PoolId, ReclaimId, TeamId};
use uuid::Uuid;

/// One reclaim with the names of what it joins.
#[derive(Debug, Clone)]
pub struct Reclaim {
    pub id: Uuid,
    pub pool_id: Uuid,
    pub pool_slug: String,
    pub evictor_job_id: Option<Uuid>,
    pub evictor_job_name: Option<String>,
    pub evictor_team_id: Option<Uuid>,
    pub evictor_team_slug: Option<String>,
    pub evictor_team_name: Option<String>,
    pub state: String,
    pub end_reason: Option<String>,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    pub gpu_milli: i64,
}

/// What a list may be narrowed to.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub pool: Option<PoolId>,
    /// As the one that asked or as a victim.
    pub team: Option<TeamId>,
    pub state: Option<String>,
}

macro_rules! select_reclaims {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            Reclaim,
            r#"select c.id, c.pool_id, p.slug as pool_slug, c.evictor_job_id, j.name as "evictor_job_name?",
                      c.evictor_team_id, t.slug as "evictor_team_slug?", t.name as "evictor_team_name?", c.state,
                      c.end_reason, c.created_at, c.expires_at, c.ended_at,
                      (select coalesce(sum(e.gpu_milli), 0)::bigint from evictions e where e.reclaim_id = c.id)
                        as "gpu_milli!"
               from reclaims c join pools p on p.id = c.pool_id left join jobs j on j.id = c.evictor_job_id
               left join teams t on t.id = c.evictor_team_id "# + $rest
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
) -> Result<Vec<Reclaim>, StoreError> {
    Ok(select_reclaims!(
        "where ($1::uuid is null or c.pool_id = $1)
           and ($2::uuid is null or c.evictor_team_id = $2
                or exists (select 1 from evictions e where e.reclaim_id = c.id and e.team_id = $2))
           and ($3::text is null or c.state = $3)
           and ($4::uuid is null or c.id < $4)
         order by c.id desc limit $5",
        filter.pool.map(|id| id.0),
        filter.team.map(|id| id.0),
        filter.state.as_deref(),
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// One reclaim.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn get(store: &Store, id: ReclaimId) -> Result<Reclaim, StoreError> {
    Ok(select_reclaims!("where c.id = $1", id.0).fetch_one(store.pool()).await?)
}
