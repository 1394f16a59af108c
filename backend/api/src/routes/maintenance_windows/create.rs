//! `POST /maintenance-windows`.

use super::view::MaintenanceWindowView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Fields, Result};
use crate::routes::time_ahead;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use reeve_core::access::{Action, Resource};
use reeve_core::id::{NodeId, PoolId};
use reeve_store::maintenance_windows::{self as windows, NewMaintenanceWindow};
use reeve_store::{StoreError, WriteTx, pools};
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use utoipa::ToSchema;

/// Most nodes that are named one by one.
const MOST_NAMES: usize = 1_000;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateMaintenanceWindow {
    /// Names or ids; or give `pool`.
    #[serde(default)]
    #[schema(max_items = 1000)]
    nodes: Vec<String>,
    /// Slug or id: all nodes that the pool has now, or those of them with all `labels`.
    pool: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    /// From now to 366 days ahead.
    starts_at: DateTime<Utc>,
    /// At most 366 days after `starts_at`.
    ends_at: DateTime<Utc>,
    #[serde(default)]
    #[schema(max_length = 500)]
    note: String,
}

/// Keeps nodes free of work from one moment to another. Jobs that would not have ended before do not start on them; at
/// its time they drain, and afterwards they take work again by themselves.
#[utoipa::path(post, path = "/api/v1/maintenance-windows", operation_id = "create_maintenance_window", tag = "calendar",
    request_body = CreateMaintenanceWindow,
    responses((status = 201, body = MaintenanceWindowView), (status = 422, description = "bad field")))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    keyed: Keyed<CreateMaintenanceWindow>,
) -> Result<Response> {
    app.allow(&caller, Action::MaintenanceWindowCreate, &Resource::Installation).await?;
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut tx = app.begin(&caller).await?;
    let nodes = checked(&app, &mut tx, &body).await?;
    let (starts_at, ends_at) = (body.starts_at, body.ends_at);
    let created_by = caller.actor.id;
    let new = NewMaintenanceWindow { nodes, starts_at, ends_at, note: body.note, created_by };
    let view: MaintenanceWindowView = windows::create(&mut tx, &new).await?.into();
    once.commit(tx, StatusCode::CREATED, &view).await
}

async fn checked(app: &AppState, tx: &mut WriteTx, body: &CreateMaintenanceWindow) -> Result<Vec<NodeId>> {
    let mut fields = Fields::new();
    fields.text("/note", &body.note, 0, 500);
    time_ahead::check(&mut fields, body.starts_at, body.ends_at, app.clock.now());
    let nodes = match &body.pool {
        Some(_) if !body.nodes.is_empty() => {
            fields.add("/nodes", "nodes_and_pool", "give either `nodes` or `pool`");
            Vec::new()
        }
        Some(pool) => of_pool(app, tx, pool, body, &mut fields).await?,
        None => named(tx, body, &mut fields).await?,
    };
    fields.done()?;
    Ok(nodes)
}

async fn of_pool(
    app: &AppState,
    tx: &mut WriteTx,
    pool: &str,
    body: &CreateMaintenanceWindow,
    fields: &mut Fields,
) -> Result<Vec<NodeId>> {
    let pool = match pools::find(&app.store, pool).await {
        Ok(pool) => PoolId(pool.id),
        Err(StoreError::NotFound) => {
            fields.add("/pool", "unknown_pool", "there is no such pool: give a pool's slug or id");
            return Ok(Vec::new());
        }
        Err(other) => return Err(other.into()),
    };
    let nodes = windows::nodes_of(tx, pool, &json!(body.labels)).await?;
    if nodes.is_empty() {
        fields.add("/labels", "no_node", "no node of the pool has all these labels");
    }
    Ok(nodes)
}

async fn named(tx: &mut WriteTx, body: &CreateMaintenanceWindow, fields: &mut Fields) -> Result<Vec<NodeId>> {
    if !body.labels.is_empty() {
        fields.add("/labels", "labels_without_pool", "labels choose among the nodes of a `pool`: give it");
    }
    if body.nodes.is_empty() || body.nodes.len() > MOST_NAMES {
        fields.add("/nodes", "invalid_length", format!("name 1 to {MOST_NAMES} nodes, or give a `pool`"));
        return Ok(Vec::new());
    }
    let found = windows::nodes_named(tx, &body.nodes).await?;
    let known: BTreeSet<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    for (at, name) in body.nodes.iter().enumerate().filter(|(_, name)| !known.contains(name.as_str())) {
        fields.add(format!("/nodes/{at}"), "unknown_node", format!("there is no node {name:?}"));
    }
    let nodes: BTreeSet<NodeId> = found.into_iter().map(|(_, node)| node).collect();
    Ok(nodes.into_iter().collect())
}
