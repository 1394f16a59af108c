//! `POST /oidc-providers/{provider}/check`.

use crate::app::AppState;
use crate::extract::{Caller, Empty, Keyed};
use crate::problem::Result;
use axum::Json;
use axum::extract::{Path, State};
use reeve_core::access::{Action, Resource};
use reeve_store::{NewEvent, oidc};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

/// What the provider answered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OidcCheck {
    ok: bool,
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    jwks_uri: Option<String>,
    signing_keys: usize,
    /// What is wrong; empty when nothing is.
    detail: String,
}

/// Asks the provider for its document and keys now.
#[utoipa::path(post, path = "/api/v1/oidc-providers/{provider}/check", operation_id = "check_oidc_provider",
    tag = "identity", params(("provider" = String, Path, description = "Id or slug")), request_body = Empty,
    responses((status = 200, body = OidcCheck)))]
pub(crate) async fn check(
    State(app): State<AppState>,
    caller: Caller,
    Path(provider): Path<String>,
    _: Keyed<Empty>,
) -> Result<Json<OidcCheck>> {
    app.allow(&caller, Action::OidcProviderEdit, &Resource::Installation).await?;
    let provider = oidc::find(&app.store, &provider).await?;
    let found = match app.issuers.ask(&provider.issuer, app.clock.now()).await {
        Ok(issuer) => OidcCheck {
            ok: issuer.metadata.authorization_endpoint.is_some() && !issuer.keys.keys.is_empty(),
            issuer: provider.issuer,
            authorization_endpoint: issuer.metadata.authorization_endpoint.clone(),
            token_endpoint: issuer.metadata.token_endpoint.clone(),
            jwks_uri: Some(issuer.metadata.jwks_uri.clone()),
            signing_keys: issuer.keys.keys.len(),
            detail: String::new(),
        },
        Err(failed) => OidcCheck {
            ok: false,
            issuer: provider.issuer,
            authorization_endpoint: None,
            token_endpoint: None,
            jwks_uri: None,
            signing_keys: 0,
            detail: failed.to_string(),
        },
    };
    let mut tx = app.begin(&caller).await?;
    let event = NewEvent::new("oidc_provider.checked", "oidc_provider", provider.id);
    tx.record(event.detail(json!({"ok": found.ok, "detail": found.detail})));
    tx.commit().await?;
    Ok(Json(found))
}
