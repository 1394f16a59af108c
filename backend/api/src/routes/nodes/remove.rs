//! `DELETE /nodes/{node}`: takes an empty or lost node out.

use crate::app::AppState;
use crate::extract::{Caller, IfMatch};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_store::nodes;

/// Removes a node with its credential. Its history stays.
#[utoipa::path(delete, path = "/api/v1/nodes/{node}", operation_id = "remove_node", tag = "nodes", params(("node" = String, Path)),
    responses((status = 204, description = "removed"), (status = 409, description = "jobs still run there"),
              (status = 412, description = "changed since it was read"),
              (status = 428, description = "If-Match is missing")))]
pub(crate) async fn remove(
    State(app): State<AppState>,
    caller: Caller,
    Path(node): Path<String>,
    if_match: IfMatch,
) -> Result<StatusCode> {
    app.allow(&caller, Action::NodeRemove, &Resource::Installation).await?;
    let row = nodes::list::find(&app.store, &node).await?;
    if_match.require(row.version)?;
    let mut tx = app.begin(&caller).await?;
    let live = nodes::admin::remove(&mut tx, &row).await?;
    if live > 0 {
        tx.rollback().await?;
        return Err(Problem::new(Code::NodeNotEmpty)
            .detail(format!(
                "{live} members of jobs still run on {}: drain it first, or wait until it is lost",
                row.name
            ))
            .param("live_members", live));
    }
    tx.commit().await?;
    app.installation.forget_reaches();
    Ok(StatusCode::NO_CONTENT)
}
