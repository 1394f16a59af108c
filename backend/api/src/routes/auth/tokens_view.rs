//! What a sign-in or refresh answers with.

use crate::app::AppState;
use crate::auth::{cookies, keys, secret};
use crate::problem::{Code, Problem, Result};
use crate::routes::me::view::MeView;
use axum::Json;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use chrono::TimeDelta;
use reeve_store::WriteTx;
use reeve_store::sessions::{self, NewSession, SignInMethod};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// How long a session lasts without a refresh, and a refresh token.
pub(crate) const SESSION_DAYS: i64 = 30;

#[derive(Serialize, ToSchema)]
pub(crate) struct SignedIn {
    access_token: String,
    /// Always `Bearer`.
    token_type: &'static str,
    expires_in_secs: i64,
    refresh_token: String,
    user: MeView,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SignInQuery {
    /// `cookie`: also sets the browser's session cookies.
    pub(crate) session: Option<String>,
}

impl SignInQuery {
    pub(crate) fn wants_cookie(&self) -> Result<bool> {
        match self.session.as_deref() {
            None => Ok(false),
            Some("cookie") => Ok(true),
            Some(_) => Err(Problem::new(Code::InvalidQuery).error("session", "unknown_value", "cookie")),
        }
    }
}

/// A new session of a person, and its first refresh token.
pub(crate) async fn new_session(
    tx: &mut WriteTx,
    user: Uuid,
    method: SignInMethod,
    headers: &HeaderMap,
    address: Option<IpAddr>,
) -> Result<(Uuid, String)> {
    let agent = user_agent(headers);
    let new = NewSession {
        user,
        method,
        address: address.map(|address| address.to_string()),
        user_agent: agent.as_deref(),
        expires_at: tx.now() + TimeDelta::days(SESSION_DAYS),
        workload: None,
    };
    let session = sessions::create(tx, new).await?;
    let refresh_token = new_refresh_token(tx, session).await?;
    Ok((session, refresh_token))
}

/// What the browser or program calls itself, cut.
pub(crate) fn user_agent(headers: &HeaderMap) -> Option<String> {
    let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    agent.map(|text| text.chars().take(200).collect())
}

/// A new refresh token of a session, as text.
pub(crate) async fn new_refresh_token(tx: &mut WriteTx, session: Uuid) -> Result<String> {
    let token = secret::mint(secret::REFRESH_TOKEN);
    let hash = secret::hash(secret::REFRESH_TOKEN, &token).ok_or_else(|| Problem::new(Code::Internal))?;
    let until = tx.now() + TimeDelta::days(SESSION_DAYS);
    sessions::add_refresh_token(tx, session, &hash, until).await?;
    Ok(token)
}

pub(crate) async fn reply(
    app: &AppState,
    headers: &HeaderMap,
    cookie: bool,
    session: Uuid,
    refresh_token: String,
) -> Result<Response> {
    let row = sessions::caller(&app.store, session, app.clock.now()).await?;
    let row = row.ok_or_else(|| Problem::new(Code::InvalidCredential))?.row;
    let access_secs = keys::ACCESS_MINUTES * 60;
    let access_token = keys::sign(app, row.user_id, session, access_secs).await?;
    let refresh_secs = SESSION_DAYS * 86_400;
    let set = if cookie {
        cookies::set(headers, Some((&access_token, &refresh_token)), access_secs, refresh_secs)
    } else {
        Vec::new()
    };
    let user = MeView::of_session(&app.store, row.user_id).await?;
    let body =
        SignedIn { access_token, token_type: "Bearer", expires_in_secs: access_secs, refresh_token, user };
    let mut response = ([(header::CACHE_CONTROL, "no-store")], Json(body)).into_response();
    for value in set {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
    Ok(response)
}
