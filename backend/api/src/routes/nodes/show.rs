//! `GET /nodes/{node}`.

use super::view::{NodeView, views};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::nodes;

/// One node, by name or id.
#[utoipa::path(get, path = "/api/v1/nodes/{node}", operation_id = "show_node", tag = "nodes", params(("node" = String, Path)),
    responses((status = 200, body = NodeView), (status = 404, description = "no such node")))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(node): Path<String>,
) -> Result<Response> {
    app.allow(&caller, Action::NodeRead, &Resource::Installation).await?;
    let row = nodes::list::find(&app.store, &node).await?;
    let version = row.version;
    let view = views(&app.store, vec![row]).await?.remove(0);
    Ok(versioned(version, &view))
}
