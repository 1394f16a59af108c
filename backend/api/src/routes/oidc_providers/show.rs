//! `GET /oidc-providers/{provider}`.

use super::view::{OidcProviderView, one};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::oidc;

/// Shows an identity provider.
#[utoipa::path(get, path = "/api/v1/oidc-providers/{provider}", operation_id = "show_oidc_provider", tag = "identity",
    params(("provider" = String, Path, description = "Id or slug")),
    responses((status = 200, body = OidcProviderView)))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(provider): Path<String>,
    headers: HeaderMap,
) -> Result<Response> {
    app.allow(&caller, Action::OidcProviderRead, &Resource::Installation).await?;
    let row = oidc::find(&app.store, &provider).await?;
    let version = row.version;
    Ok(versioned(version, &one(&app, &headers, row).await?))
}
