//! `POST /auth/sign-out`.

use crate::app::AppState;
use crate::auth::cookies;
use crate::extract::{AuthKind, Caller};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use reeve_store::sessions;

/// Ends the session, at once here and within five seconds on other servers.
#[utoipa::path(post, path = "/api/v1/auth/sign-out", operation_id = "sign_out", tag = "auth",
    responses((status = 204)))]
pub(crate) async fn sign_out(
    State(app): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response> {
    let (AuthKind::Session { id } | AuthKind::Workload { id, .. }) = caller.kind else {
        return Err(Problem::new(Code::Forbidden).detail("an API token has no session: revoke it instead"));
    };
    let mut tx = app.begin(&caller).await?;
    sessions::revoke(&mut tx, id, "signed_out").await?;
    tx.commit().await?;
    app.callers.forget();
    let mut response = StatusCode::NO_CONTENT.into_response();
    for value in cookies::set(&headers, None, 0, 0) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
    Ok(response)
}
