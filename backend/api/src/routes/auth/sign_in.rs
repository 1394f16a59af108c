//! `POST /auth/sign-in`.

use super::tokens_view::{SignInQuery, SignedIn, new_session, reply};
use crate::app::AppState;
use crate::extract::{Address, Json, List};
use crate::layers::request_id::request_id;
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_store::sessions::{self, Credentials, SignInMethod};
use reeve_store::{Actor, WriteContext};
use serde::Deserialize;
use utoipa::ToSchema;

/// Failures before the account pauses.
const FREE_FAILURES: i32 = 5;
const FIRST_PAUSE_SECS: i64 = 30;
const LONGEST_PAUSE_SECS: i64 = 900;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignIn {
    username: String,
    #[schema(format = Password)]
    password: String,
}

/// Signs in with a password.
#[utoipa::path(post, path = "/api/v1/auth/sign-in", operation_id = "sign_in", tag = "auth", params(SignInQuery),
    request_body = SignIn, responses((status = 200, body = SignedIn)))]
pub(crate) async fn sign_in(
    State(app): State<AppState>,
    query: List<SignInQuery>,
    Address(address): Address,
    headers: HeaderMap,
    Json(body): Json<SignIn>,
) -> Result<Response> {
    let cookie = query.filter.wants_cookie()?;
    app.rate_limit.sign_in(&body.username, address)?;
    let known = sessions::credentials(&app.store, &body.username).await?;
    let user = check(&app, &headers, known, body.password).await?;
    let now = app.clock.now();
    let context = context(&headers, Actor::user(user.user_id, &user.username), now);
    let mut tx = app.store.begin(context).await?;
    let (session, refresh_token) =
        new_session(&mut tx, user.user_id, SignInMethod::Password, &headers, address).await?;
    tx.commit().await?;
    reply(&app, &headers, cookie, session, refresh_token).await
}

pub(crate) fn context(headers: &HeaderMap, actor: Actor, now: DateTime<Utc>) -> WriteContext {
    WriteContext { actor, request_id: Some(request_id(headers)), now }
}

/// The password is always judged, so that neither an unknown name nor a pause answers faster.
async fn check(
    app: &AppState,
    headers: &HeaderMap,
    known: Option<Credentials>,
    password: String,
) -> Result<Credentials> {
    let now = app.clock.now();
    let hash = known.as_ref().and_then(|user| user.password_hash.clone());
    let right = app.passwords.verify(password, hash).await?;
    let refused = || Problem::new(Code::SignInFailed);
    let user = known.ok_or_else(refused)?;
    if user.locked_until.is_some_and(|until| until > now) || !user.active {
        return Err(refused());
    }
    if right {
        return Ok(user);
    }
    let mut tx = app.store.begin(context(headers, Actor::anonymous(), now)).await?;
    sessions::sign_in_failed(&mut tx, user.user_id, pause(user.failed_sign_ins + 1, now)).await?;
    tx.commit().await?;
    Err(refused())
}

/// Doubles with each failure after the free ones.
fn pause(failures: i32, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let over = u32::try_from(failures - FREE_FAILURES).ok()?;
    let secs = FIRST_PAUSE_SECS.saturating_mul(1 << over.min(10)).min(LONGEST_PAUSE_SECS);
    Some(now + TimeDelta::seconds(secs))
}
