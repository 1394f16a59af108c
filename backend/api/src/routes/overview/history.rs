//! `GET /overview/history`: own, borrowed, idle and broken GPUs over the last hours, from the ledger.

use crate::app::AppState;
use crate::extract::{Caller, Params};
use crate::problem::{Code, Problem, Result};
use axum::Json;
use axum::extract::State;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::access::{Action, Resource};
use reeve_core::id::PoolId;
use reeve_core::units::MilliGpu;
use reeve_store::{overview, pools};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

const POINTS: i32 = 145;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryParams {
    /// A pool's slug or id; all pools when left out.
    pool: Option<String>,
    /// How far back: 1 to 744 hours.
    #[param(minimum = 1, maximum = 744, default = 24)]
    hours: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct History {
    points: Vec<HistoryPoint>,
}

/// Own + borrowed + idle + down = what the pool had at that moment. Down: nobody held it, and its node was lost or it was
/// not healthy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HistoryPoint {
    at: DateTime<Utc>,
    own_gpus: f64,
    borrowed_gpus: f64,
    idle_gpus: f64,
    down_gpus: f64,
}

/// Use of a pool over the last hours.
#[utoipa::path(get, path = "/api/v1/overview/history", operation_id = "show_overview_history", tag = "overview", params(HistoryParams),
    responses((status = 200, body = History)))]
pub(crate) async fn history(
    State(app): State<AppState>,
    caller: Caller,
    Params(params): Params<HistoryParams>,
) -> Result<Json<History>> {
    app.allow(&caller, Action::OverviewRead, &Resource::Installation).await?;
    let hours = params.hours.unwrap_or(24);
    if !(1..=744).contains(&hours) {
        return Err(Problem::new(Code::InvalidQuery).error("hours", "out_of_range", "1 to 744"));
    }
    let pool = match &params.pool {
        Some(name) => Some(PoolId(pools::find(&app.store, name).await?.id)),
        None => None,
    };
    let now = app.clock.now();
    let rows = overview::history(&app.store, pool, now - TimeDelta::hours(hours), now, POINTS).await?;
    Ok(Json(History { points: rows.iter().map(point).collect() }))
}

fn point(row: &overview::HistoryPoint) -> HistoryPoint {
    let borrowed = row.borrowed_milli.min(row.used_milli);
    let gpus = |milli: i64| MilliGpu(milli).as_gpus();
    HistoryPoint {
        at: row.at,
        own_gpus: gpus(row.used_milli - borrowed),
        borrowed_gpus: gpus(borrowed),
        idle_gpus: gpus((row.all_milli - row.down_milli - row.used_milli).max(0)),
        down_gpus: gpus(row.down_milli),
    }
}
