//! `GET /tokens`.

use super::view::TokenView;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use crate::routes::sessions::list::OfUser;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::tokens;

/// Lists API tokens, newest first: the caller's own, or for administrators somebody else's.
#[utoipa::path(get, path = "/api/v1/tokens", operation_id = "list_tokens", tag = "tokens", params(OfUser, ListParams),
    responses((status = 200, body = PageView<TokenView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<OfUser>,
) -> Result<Response> {
    let user = list.filter.whose(&app, &caller).await?;
    app.allow(&caller, Action::TokenRead, &Resource::Account(user)).await?;
    let rows = tokens::list(&app.store, user, list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |token| token.id).map(TokenView::from)))
}
