//! `GET /nodes/{node}/use`.

use crate::app::AppState;
use crate::extract::{Caller, Params};
use crate::problem::Result;
use crate::routes::time_past::{bucket_secs, span};
use axum::Json;
use axum::extract::{Path, State};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::access::{Action, Resource};
use reeve_core::id::NodeId;
use reeve_store::gpu_use::read::{self, GpuPoint, Latest};
use reeve_store::nodes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// What is older is not how a GPU is used now.
const NOW: TimeDelta = TimeDelta::minutes(5);
const HOUR: i64 = 3_600;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct UseQuery {
    /// Left out = 24 hours before `to`; a span of at most 31 days.
    #[param(value_type = Option<DateTime<Utc>>)]
    from: Option<String>,
    /// Left out = now.
    #[param(value_type = Option<DateTime<Utc>>)]
    to: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NodeUseView {
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    /// The length of a point: whole hours.
    bucket_secs: i64,
    gpus: Vec<GpuUseView>,
}

/// One GPU. Shares of compute are thousandths.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GpuUseView {
    index: i32,
    /// Its newest sample, of the last five minutes; absent when none came.
    now: Option<GpuNow>,
    points: Vec<GpuUsePoint>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GpuNow {
    at: DateTime<Utc>,
    job_ids: Vec<Uuid>,
    compute_permille: Option<i16>,
    memory_used_mib: Option<i64>,
    power_milliwatts: Option<i64>,
    temperature_celsius: Option<i16>,
    pcie_kib_per_s: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GpuUsePoint {
    at: DateTime<Utc>,
    samples: i64,
    /// Of those, while a job held it.
    held_samples: i64,
    compute_permille_mean: Option<i64>,
    compute_permille_max: i64,
    memory_used_mib_max: i64,
    power_milliwatts_mean: i64,
    temperature_celsius_max: Option<i16>,
}

/// How a node's GPUs are used now, and were used by the hour.
#[utoipa::path(get, path = "/api/v1/nodes/{node}/use", operation_id = "show_node_use", tag = "nodes", params(("node" = String, Path), UseQuery),
    responses((status = 200, body = NodeUseView), (status = 404, description = "no such node")))]
pub(crate) async fn used(
    State(app): State<AppState>,
    caller: Caller,
    Path(node): Path<String>,
    Params(query): Params<UseQuery>,
) -> Result<Json<NodeUseView>> {
    app.allow(&caller, Action::NodeRead, &Resource::Installation).await?;
    let node = NodeId(nodes::list::find(&app.store, &node).await?.id);
    let now = app.clock.now();
    let (from, to) = span(query.from.as_deref(), query.to.as_deref(), now)?;
    let bucket = bucket_secs(from, to, HOUR);
    let mut gpus: BTreeMap<i32, GpuUseView> = BTreeMap::new();
    let empty = |index| GpuUseView { index, now: None, points: Vec::new() };
    for row in read::latest(&app.store, node, now - NOW).await? {
        let index = row.index;
        gpus.entry(index).or_insert_with(|| empty(index)).now = Some(newest(row));
    }
    for row in read::node_points(&app.store, node, from, to, bucket).await? {
        gpus.entry(row.index).or_insert_with(|| empty(row.index)).points.push(point(&row));
    }
    Ok(Json(NodeUseView { from, to, bucket_secs: bucket, gpus: gpus.into_values().collect() }))
}

fn newest(row: Latest) -> GpuNow {
    GpuNow {
        at: row.at,
        job_ids: row.job_ids,
        compute_permille: row.compute_permille,
        memory_used_mib: row.memory_used_mib,
        power_milliwatts: row.power_milliwatts,
        temperature_celsius: row.temperature_celsius,
        pcie_kib_per_s: row.pcie_kib_per_s,
    }
}

fn point(row: &GpuPoint) -> GpuUsePoint {
    GpuUsePoint {
        at: row.at,
        samples: row.samples,
        held_samples: row.held_samples,
        compute_permille_mean: row.compute_permille_mean,
        compute_permille_max: row.compute_permille_max,
        memory_used_mib_max: row.memory_used_mib_max,
        power_milliwatts_mean: row.power_milliwatts_mean,
        temperature_celsius_max: row.temperature_celsius_max,
    }
}
