//! A reclaim with its evictions, as JSON.

use crate::refs::{JobRef, PoolRef, TeamRef};
use crate::routes::evictions::view::{EvictionView, views as eviction_views};
use chrono::{DateTime, Utc};
use reeve_core::units::MilliGpu;
use reeve_store::reclaims::Reclaim;
use reeve_store::{Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ReclaimView {
    pub id: Uuid,
    pub pool: PoolRef,
    /// Null: nobody asked (a drain, a lowered quota).
    pub evictor_job: Option<JobRef>,
    pub evictor_team: Option<TeamRef>,
    /// `waiting`, `done`, `dropped` or `timed_out`.
    pub state: String,
    pub end_reason: Option<String>,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    /// Taken in all.
    pub gpus: f64,
    pub evictions: Vec<EvictionView>,
}

/// Reclaims with their evictions: a fixed number of look-ups a page.
pub(crate) async fn views(store: &Store, reclaims: Vec<Reclaim>) -> Result<Vec<ReclaimView>, StoreError> {
    let ids: Vec<Uuid> = reclaims.iter().map(|reclaim| reclaim.id).collect();
    let rows = reeve_store::evictions::of_reclaims(store, &ids).await?;
    let mut by_reclaim: BTreeMap<Uuid, Vec<EvictionView>> = BTreeMap::new();
    for eviction in eviction_views(store, rows).await? {
        by_reclaim.entry(eviction.reclaim_id).or_default().push(eviction);
    }
    Ok(reclaims
        .into_iter()
        .map(|reclaim| {
            let evictions = by_reclaim.remove(&reclaim.id).unwrap_or_default();
            view(reclaim, evictions)
        })
        .collect())
}

fn view(row: Reclaim, evictions: Vec<EvictionView>) -> ReclaimView {
    let evictor_team = match (row.evictor_team_id, row.evictor_team_slug, row.evictor_team_name) {
        (Some(id), Some(slug), Some(name)) => Some(TeamRef { id, slug, name }),
        _ => None,
    };
    let evictor_job = match (row.evictor_job_id, row.evictor_job_name, &evictor_team) {
        (Some(id), Some(name), Some(team)) => Some(JobRef { id, name, team: team.clone() }),
        _ => None,
    };
    ReclaimView {
        id: row.id,
        pool: PoolRef { id: row.pool_id, slug: row.pool_slug },
        evictor_job,
        evictor_team,
        state: row.state,
        end_reason: row.end_reason,
        created_at: row.created_at,
        expires_at: row.expires_at,
        ended_at: row.ended_at,
        gpus: MilliGpu(row.gpu_milli).as_gpus(),
        evictions,
    }
}
