//! `GET /operations`.

use super::view::OperationView;
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::operations;

/// The caller's operations, newest first; an administrator sees everybody's.
#[utoipa::path(get, path = "/api/v1/operations", operation_id = "list_operations", tag = "operations", params(ListParams),
    responses((status = 200, body = PageView<OperationView>)))]
pub(crate) async fn list(State(app): State<AppState>, caller: Caller, list: List<Empty>) -> Result<Response> {
    let me = caller.actor.id;
    app.allow(&caller, Action::OperationRead, &Resource::Account(me)).await?;
    let by = if caller.actor.is_admin() { None } else { Some(me) };
    let rows = operations::list(&app.store, by, list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |operation| operation.id).map(OperationView::from)))
}
