//! `GET /pools`.

use super::view::{PoolView, views};
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::page::Page;
use reeve_store::pools;

/// Lists pools by slug.
#[utoipa::path(get, path = "/api/v1/pools", operation_id = "list_pools", tag = "pools", params(ListParams),
    responses((status = 200, body = PageView<PoolView>)))]
pub(crate) async fn list(State(app): State<AppState>, caller: Caller, list: List<Empty>) -> Result<Response> {
    app.allow(&caller, Action::PoolRead, &Resource::Installation).await?;
    let rows = pools::list(&app.store, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |pool| pool.slug.clone());
    let items = views(&app.store, page.items).await?;
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}
