//! `GET /join-tokens`.

use super::view::JoinTokenView;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::join_tokens;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFilter {}

/// Join tokens, newest first; never with their secrets.
#[utoipa::path(get, path = "/api/v1/join-tokens", operation_id = "list_join_tokens", tag = "nodes", params(ListParams),
    responses((status = 200, body = PageView<JoinTokenView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<NoFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::JoinTokenRead, &Resource::Installation).await?;
    let rows = join_tokens::list(&app.store, list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |token| token.id).map(JoinTokenView::from)))
}
