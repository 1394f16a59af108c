//! `GET /tokens`.

use super::view::TokenView;
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::tokens;

/// Lists the caller's API tokens, newest first.
#[utoipa::path(get, path = "/api/v1/tokens", operation_id = "list_tokens", tag = "tokens", params(ListParams),
    responses((status = 200, body = PageView<TokenView>)))]
pub(crate) async fn list(State(app): State<AppState>, caller: Caller, list: List<Empty>) -> Result<Response> {
    app.allow(&caller, Action::TokenRead, &Resource::Account(caller.actor.id)).await?;
    let rows = tokens::list(&app.store, caller.actor.id, list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |token| token.id).map(TokenView::from)))
}
