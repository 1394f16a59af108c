//! `GET /auth/oidc/callback`.

use super::oidc_browser::{back, redirect_uri, refused};
use super::sign_in::context;
use super::tokens_view::{SESSION_DAYS, new_session};
use crate::app::AppState;
use crate::auth::{cookies, keys};
use crate::extract::{Address, Params};
use crate::oidc::admit::admit;
use crate::oidc::code::{digest, exchange};
use crate::problem::Result;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use reeve_store::oidc::Provider;
use reeve_store::oidc_sign_in::{self, Flow};
use reeve_store::sessions::SignInMethod;
use reeve_store::{Actor, NewEvent, oidc};
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::IpAddr;
use subtle::ConstantTimeEq;
use utoipa::IntoParams;

/// What providers send; more than this is ignored, as the standard asks.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FinishQuery {
    state: Option<String>,
    code: Option<String>,
    /// The provider's own word for why there is no code.
    error: Option<String>,
    /// The issuer, from providers that name themselves (RFC 9207).
    iss: Option<String>,
}

/// Takes the browser back from the provider: signs in, and goes on to where it wanted to go.
#[utoipa::path(get, path = "/api/v1/auth/oidc/callback", operation_id = "finish_oidc_sign_in", tag = "auth",
    params(FinishQuery), responses((status = 303, description = "Signed in, or back with `oidc_error`")))]
pub(crate) async fn finish(
    State(app): State<AppState>,
    Address(address): Address,
    Params(query): Params<FinishQuery>,
    headers: HeaderMap,
) -> Result<Response> {
    app.rate_limit.attempt(address)?;
    let Some(flow) = known_flow(&app, &query, &headers).await? else {
        return Ok(refused("/", "oidc_state"));
    };
    let provider = oidc::find(&app.store, &flow.provider_id.to_string()).await?;
    let said = match (&query.code, &query.iss) {
        (None, _) => Err(query.error.clone().unwrap_or_else(|| "no code".to_owned())),
        // An answer of another provider: somebody mixes them up.
        (_, Some(issuer)) if *issuer != provider.issuer => Err(format!("an answer of {issuer}")),
        _ if provider.state != "enabled" => Err("the provider is disabled".to_owned()),
        (Some(code), _) => {
            let back = redirect_uri(&app, &headers);
            let now = app.clock.now();
            exchange(&app.issuers, &provider, &back, code, &flow, now)
                .await
                .map_err(|failed| failed.to_string())
        }
    };
    match said {
        Ok(claims) => signed_in(&app, &headers, &provider, &flow, &claims, address).await,
        Err(why) => {
            let code = if query.code.is_none() { "oidc_denied" } else { "oidc_failed" };
            tracing::warn!(provider = provider.slug, why, "a sign-in failed");
            denied(&app, &headers, &provider, code, &why).await?;
            Ok(refused(&flow.return_to, code))
        }
    }
}

/// The sign-in that this answer belongs to, if this browser began it.
async fn known_flow(app: &AppState, query: &FinishQuery, headers: &HeaderMap) -> Result<Option<Flow>> {
    let Some(state) = &query.state else { return Ok(None) };
    let browser = cookies::read(headers, cookies::FLOW).unwrap_or_default();
    let flow = oidc_sign_in::take(&app.store, &digest(state), app.clock.now()).await?;
    Ok(flow.filter(|flow| bool::from(flow.browser_hash.ct_eq(&digest(&browser)))))
}

async fn signed_in(
    app: &AppState,
    headers: &HeaderMap,
    provider: &Provider,
    flow: &Flow,
    claims: &Value,
    address: Option<IpAddr>,
) -> Result<Response> {
    let now = app.clock.now();
    let mut tx = app.store.begin(context(headers, Actor::system(&provider.slug), now)).await?;
    let identity = match admit(&app.store, &mut tx, provider, claims).await? {
        Ok(identity) => identity,
        Err(refusal) => {
            tx.rollback().await?;
            let subject = claims["sub"].as_str().unwrap_or_default();
            denied(app, headers, provider, refusal.code(), subject).await?;
            return Ok(refused(&flow.return_to, refusal.code()));
        }
    };
    let user = identity.user_id;
    let (session, refresh) = new_session(&mut tx, user, SignInMethod::Oidc, headers, address).await?;
    tx.commit().await?;
    app.callers.forget();
    let access_secs = keys::ACCESS_MINUTES * 60;
    let access = keys::sign(app, user, session, access_secs).await?;
    let set = cookies::set(headers, Some((&access, &refresh)), access_secs, SESSION_DAYS * 86_400);
    Ok(back(&flow.return_to, set))
}

async fn denied(
    app: &AppState,
    headers: &HeaderMap,
    provider: &Provider,
    rule: &str,
    why: &str,
) -> Result<()> {
    let mut tx = app.store.begin(context(headers, Actor::anonymous(), app.clock.now())).await?;
    let why: String = why.chars().take(300).collect();
    let event = NewEvent::new("session.sign_in", "oidc_provider", provider.id).denied(rule);
    tx.record(event.detail(json!({"why": why})));
    Ok(tx.commit().await?)
}
