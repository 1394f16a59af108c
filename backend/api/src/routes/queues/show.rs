//! `GET /queues/{queue}`.

use super::view::{QueueView, views};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::queues;

/// One queue, by slug or id.
#[utoipa::path(get, path = "/api/v1/queues/{queue}", operation_id = "show_queue", tag = "queues", params(("queue" = String, Path)),
    responses((status = 200, body = QueueView), (status = 404, description = "no such queue")))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(queue): Path<String>,
) -> Result<Response> {
    app.allow(&caller, Action::QueueRead, &Resource::Installation).await?;
    let row = queues::find(&app.store, &queue).await?;
    let version = row.version;
    Ok(versioned(version, &views(&app.store, vec![row]).await?.remove(0)))
}
