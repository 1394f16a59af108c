//! `GET /gpu-use`.

use super::stretch::StretchQuery;
use crate::app::AppState;
use crate::extract::{Caller, Params};
use crate::problem::Result;
use crate::refs::{PoolRef, TeamRef};
use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use reeve_core::access::{Action, Resource};
use reeve_store::gpu_use::figures::{self, PoolCapacity, TeamUse};
use reeve_store::jobs::admission;
use reeve_store::teams;
use serde::Serialize;
use utoipa::ToSchema;

/// All amounts are GPU-seconds, exact to the thousandth of a GPU.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GpuUse {
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    /// Left out when it is asked for one team.
    pools: Vec<PoolUseView>,
    /// Each team's own jobs, by pool.
    teams: Vec<TeamUseView>,
}

/// capacity = busy + idle + unknown + free + down; of the free ones, `fragmented` lay beside others' work on the same node.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PoolUseView {
    pool: PoolRef,
    capacity_gpu_secs: f64,
    allocated_gpu_secs: f64,
    busy_gpu_secs: f64,
    idle_gpu_secs: f64,
    unknown_gpu_secs: f64,
    free_gpu_secs: f64,
    fragmented_gpu_secs: f64,
    down_gpu_secs: f64,
}

/// allocated = busy + idle + unknown. Unknown: no sample covers it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TeamUseView {
    team: TeamRef,
    pool: PoolRef,
    runs: i64,
    allocated_gpu_secs: f64,
    busy_gpu_secs: f64,
    idle_gpu_secs: f64,
    unknown_gpu_secs: f64,
}

/// What GPUs were allocated in a stretch of time, and what of it computed: busy and idle by the agents' samples, as each job's
/// idle rule counts them. Sharing is visible: everybody sees it.
#[utoipa::path(get, path = "/api/v1/gpu-use", operation_id = "show_gpu_use", tag = "usage", params(StretchQuery),
    responses((status = 200, body = GpuUse), (status = 404, description = "no such pool or team")))]
pub(crate) async fn figures(
    State(app): State<AppState>,
    caller: Caller,
    Params(query): Params<StretchQuery>,
) -> Result<Json<GpuUse>> {
    app.allow(&caller, Action::ReclaimRead, &Resource::Installation).await?;
    let asked = query.asked(&app).await?;
    let mut used = figures::by_team(&app.store, &asked).await?;
    let capacity = match &query.team {
        Some(team) => {
            let team = teams::find(&app.store, team).await?.id;
            let below = admission::subtree(&app.store, team).await?;
            used.retain(|row| below.contains(&row.team_id));
            Vec::new()
        }
        None => figures::capacity(&app.store, &asked).await?,
    };
    let pools = capacity.iter().map(|pool| pool_view(pool, &used)).collect();
    Ok(Json(GpuUse { from: asked.from, to: asked.to, pools, teams: used.iter().map(team_view).collect() }))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a float is how JSON has a fraction; 2^53 milli-GPU seconds are far off"
)]
fn gpu_secs(milli: i64) -> f64 {
    milli as f64 / 1_000.0
}

fn pool_view(pool: &PoolCapacity, used: &[TeamUse]) -> PoolUseView {
    let of_pool = || used.iter().filter(|row| row.pool_id == pool.pool_id);
    let allocated: i64 = of_pool().map(|row| row.allocated).sum();
    // GPUs that left while they were held are no capacity any more, and were allocated.
    let capacity = pool.capacity.max(allocated + pool.down);
    let free = capacity - pool.down - allocated;
    PoolUseView {
        pool: PoolRef { id: pool.pool_id, slug: pool.pool_slug.clone() },
        capacity_gpu_secs: gpu_secs(capacity),
        allocated_gpu_secs: gpu_secs(allocated),
        busy_gpu_secs: gpu_secs(of_pool().map(|row| row.busy).sum()),
        idle_gpu_secs: gpu_secs(of_pool().map(|row| row.idle).sum()),
        unknown_gpu_secs: gpu_secs(of_pool().map(|row| row.unknown).sum()),
        free_gpu_secs: gpu_secs(free),
        fragmented_gpu_secs: gpu_secs(pool.fragmented.min(free)),
        down_gpu_secs: gpu_secs(pool.down),
    }
}

fn team_view(row: &TeamUse) -> TeamUseView {
    TeamUseView {
        team: TeamRef { id: row.team_id, slug: row.team_slug.clone(), name: row.team_name.clone() },
        pool: PoolRef { id: row.pool_id, slug: row.pool_slug.clone() },
        runs: row.runs,
        allocated_gpu_secs: gpu_secs(row.allocated),
        busy_gpu_secs: gpu_secs(row.busy),
        idle_gpu_secs: gpu_secs(row.idle),
        unknown_gpu_secs: gpu_secs(row.unknown),
    }
}
