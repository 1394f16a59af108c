//! `GET /maintenance-windows`.

use super::view::MaintenanceWindowView;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use crate::routes::time_ahead;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::{NodeId, PoolId};
use reeve_store::{maintenance_windows, nodes, pools};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaintenanceWindowFilter {
    /// A pool's slug or id: windows with a node of it.
    pool: Option<String>,
    /// A node's name or id.
    node: Option<String>,
    /// Those that end after this moment; left out = now.
    #[param(value_type = Option<DateTime<Utc>>)]
    from: Option<String>,
    /// Those that begin before this moment.
    #[param(value_type = Option<DateTime<Utc>>)]
    to: Option<String>,
}

/// Times in which nodes take no work, the first to begin first; those that are over only where `from` asks for them.
#[utoipa::path(get, path = "/api/v1/maintenance-windows", operation_id = "list_maintenance_windows", tag = "calendar",
    params(MaintenanceWindowFilter, ListParams), responses((status = 200, body = PageView<MaintenanceWindowView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<MaintenanceWindowFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::MaintenanceWindowRead, &Resource::Installation).await?;
    let filter = filter(&app, &list.filter).await?;
    let rows = maintenance_windows::list(&app.store, &filter, list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |row| (row.starts_at, row.id)).map(MaintenanceWindowView::from)))
}

async fn filter(app: &AppState, asked: &MaintenanceWindowFilter) -> Result<maintenance_windows::Filter> {
    let (from, to) = time_ahead::between(asked.from.as_deref(), asked.to.as_deref(), app.clock.now())?;
    let mut filter = maintenance_windows::Filter { pool: None, node: None, from, to };
    if let Some(pool) = &asked.pool {
        filter.pool = Some(PoolId(pools::find(&app.store, pool).await?.id));
    }
    if let Some(node) = &asked.node {
        filter.node = Some(NodeId(nodes::list::find(&app.store, node).await?.id));
    }
    Ok(filter)
}
