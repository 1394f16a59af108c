//! `GET /users`.

use super::view::{UserView, views};
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::page::Page;
use reeve_store::users;

/// Lists people by username.
#[utoipa::path(get, path = "/api/v1/users", operation_id = "list_users", tag = "users", params(ListParams),
    responses((status = 200, body = PageView<UserView>)))]
pub(crate) async fn list(State(app): State<AppState>, caller: Caller, list: List<Empty>) -> Result<Response> {
    app.allow(&caller, Action::UserRead, &Resource::Installation).await?;
    let rows = users::list(&app.store, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |user| user.username.clone());
    let items = views(&app.store, page.items).await?;
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}
