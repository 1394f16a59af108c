//! `POST /auth/refresh`.

use super::sign_in::context;
use super::tokens_view::{SignInQuery, SignedIn, new_refresh_token, reply};
use crate::app::AppState;
use crate::auth::{cookies, secret};
use crate::extract::{Keyed, List};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use reeve_store::{Actor, sessions};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refresh {
    /// Left out by browsers, whose cookie holds it.
    refresh_token: Option<String>,
}

/// Exchanges a refresh token for new tokens. A token that was used before ends the session.
#[utoipa::path(post, path = "/api/v1/auth/refresh", operation_id = "refresh", tag = "auth", params(SignInQuery),
    request_body = Refresh, responses((status = 200, body = SignedIn)))]
pub(crate) async fn refresh(
    State(app): State<AppState>,
    query: List<SignInQuery>,
    headers: HeaderMap,
    Keyed { body, .. }: Keyed<Refresh>,
) -> Result<Response> {
    let from_cookie = body.refresh_token.is_none();
    let token = match body.refresh_token {
        Some(token) => token,
        None => {
            cookies::check_origin(&Method::POST, &headers, app.settings.public_origin.as_deref())?;
            cookies::read(&headers, cookies::REFRESH).ok_or_else(|| Problem::new(Code::Unauthenticated))?
        }
    };
    let invalid = || Problem::new(Code::InvalidCredential);
    let hash = secret::hash(secret::REFRESH_TOKEN, &token).ok_or_else(invalid)?;
    let mut tx = app.store.begin(context(&headers, Actor::anonymous(), app.clock.now())).await?;
    let known = sessions::refresh_token(&mut tx, &hash).await?.ok_or_else(invalid)?;
    if known.spent {
        sessions::revoke(&mut tx, known.session_id, "refresh_reused").await?;
        tx.commit().await?;
        app.callers.forget();
        return Err(Problem::new(Code::RefreshReused));
    }
    if !known.valid {
        return Err(invalid());
    }
    sessions::spend_refresh_token(&mut tx, &hash, known.session_id).await?;
    let next = new_refresh_token(&mut tx, known.session_id).await?;
    tx.commit().await?;
    reply(&app, &headers, from_cookie || query.filter.wants_cookie()?, known.session_id, next).await
}
