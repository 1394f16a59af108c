//! `GET /oidc-providers`.

use super::view::{OidcProviderView, views};
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::oidc;
use reeve_store::page::Page;

/// Lists identity providers, by slug.
#[utoipa::path(get, path = "/api/v1/oidc-providers", operation_id = "list_oidc_providers", tag = "identity",
    params(ListParams), responses((status = 200, body = PageView<OidcProviderView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    list: List<Empty>,
) -> Result<Response> {
    app.allow(&caller, Action::OidcProviderRead, &Resource::Installation).await?;
    let rows = oidc::list(&app.store, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |provider| provider.slug.clone());
    let items = views(&app, &headers, page.items).await?;
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}
