//! `DELETE /oidc-providers/{provider}`.

use crate::app::AppState;
use crate::extract::{Caller, IfMatch};
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_store::oidc;

/// Deletes an identity provider: the roles that its groups gave are taken back; people and their sessions stay.
#[utoipa::path(delete, path = "/api/v1/oidc-providers/{provider}", operation_id = "delete_oidc_provider",
    tag = "identity", params(("provider" = String, Path, description = "Id or slug")),
    responses((status = 204)))]
pub(crate) async fn delete(
    State(app): State<AppState>,
    caller: Caller,
    Path(provider): Path<String>,
    if_match: IfMatch,
) -> Result<StatusCode> {
    app.allow(&caller, Action::OidcProviderEdit, &Resource::Installation).await?;
    let id = oidc::find(&app.store, &provider).await?.id;
    let mut tx = app.begin(&caller).await?;
    let row = oidc::lock(&mut tx, id).await?;
    if_match.check(row.version)?;
    oidc::delete(&mut tx, &row).await?;
    tx.commit().await?;
    app.callers.forget();
    Ok(StatusCode::NO_CONTENT)
}
