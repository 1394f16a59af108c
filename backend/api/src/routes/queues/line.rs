//! `GET /queues/{queue}/line`.

use super::view::InLineView;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::QueueId;
use reeve_store::queues;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFilter {}

/// The jobs of a queue in the real order of service: what is served already, then what waits as the planner
/// numbered it.
#[utoipa::path(get, path = "/api/v1/queues/{queue}/line", operation_id = "show_queue_line", tag = "queues", params(("queue" = String, Path), ListParams),
    responses((status = 200, body = PageView<InLineView>), (status = 404, description = "no such queue")))]
pub(crate) async fn line(
    State(app): State<AppState>,
    caller: Caller,
    Path(queue): Path<String>,
    list: List<NoFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::QueueRead, &Resource::Installation).await?;
    let queue = queues::find(&app.store, &queue).await?;
    let rows = queues::line(&app.store, QueueId(queue.id), list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |job| job.place).map(InLineView::from)))
}
