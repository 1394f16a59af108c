//! `GET /auth/oidc/{provider}/start`.

use super::oidc_browser::{self, redirect_uri, safe_path};
use crate::app::AppState;
use crate::auth::cookies;
use crate::extract::{Address, Params};
use crate::oidc::code::{authorize_url, digest, random};
use crate::problem::{Problem, Result};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use chrono::TimeDelta;
use reeve_store::oidc;
use reeve_store::oidc_sign_in::{self, Flow};
use serde::Deserialize;
use utoipa::IntoParams;

/// How long somebody may take at the provider.
pub(super) const FLOW_SECS: i64 = 600;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StartQuery {
    /// Where to go afterwards: a path of the console.
    return_to: Option<String>,
}

/// Sends the browser to the provider, to come back signed in.
#[utoipa::path(get, path = "/api/v1/auth/oidc/{provider}/start", operation_id = "start_oidc_sign_in", tag = "auth",
    params(("provider" = String, Path, description = "Slug"), StartQuery),
    responses((status = 303, description = "To the provider, or back with `oidc_error`")))]
pub(crate) async fn start(
    State(app): State<AppState>,
    Address(address): Address,
    Path(slug): Path<String>,
    Params(query): Params<StartQuery>,
    headers: HeaderMap,
) -> Result<Response> {
    app.rate_limit.attempt(address)?;
    let provider = oidc::find(&app.store, &slug).await?;
    if provider.state != "enabled" || provider.slug != slug {
        return Err(Problem::not_found());
    }
    let now = app.clock.now();
    // One mark for all of this browser's tabs.
    let browser =
        cookies::read(&headers, cookies::FLOW).filter(|mark| mark.len() == 43).unwrap_or_else(random);
    let flow = Flow {
        provider_id: provider.id,
        browser_hash: digest(&browser),
        nonce: random(),
        pkce_verifier: random(),
        return_to: safe_path(query.return_to.as_deref()),
        expires_at: now + TimeDelta::seconds(FLOW_SECS),
    };
    let state = random();
    let back = redirect_uri(&app, &headers);
    match authorize_url(&app.issuers, &provider, &back, &state, &flow, now).await {
        Ok(url) => {
            oidc_sign_in::begin(&app.store, &digest(&state), &flow).await?;
            Ok(oidc_browser::away(&url, &headers, &browser))
        }
        Err(failed) => {
            tracing::warn!(provider = provider.slug, %failed, "an identity provider cannot be used");
            Ok(oidc_browser::refused(&flow.return_to, "oidc_unreachable"))
        }
    }
}
