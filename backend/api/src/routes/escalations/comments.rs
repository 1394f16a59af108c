//! `GET /escalations/{id}/comments`.

use super::comment::CommentView;
use super::load::load;
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::id::EscalationId;
use reeve_store::escalations::comments as stored;

/// What was said about it, oldest first. Comments on decisions stand with their steps.
#[utoipa::path(get, path = "/api/v1/escalations/{id}/comments", operation_id = "list_escalation_comments", tag = "approvals",
    params(("id" = String, Path), ListParams),
    responses((status = 200, body = PageView<CommentView>), (status = 404, description = "no such escalation")))]
pub(crate) async fn comments(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    list: List<Empty>,
) -> Result<Response> {
    let loaded = load(&app, &caller, caller.actor.clone(), &id, Action::EscalationRead).await?;
    let rows = stored::list(&app.store, EscalationId(loaded.row.id), list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |row| row.id).map(CommentView::from)))
}
