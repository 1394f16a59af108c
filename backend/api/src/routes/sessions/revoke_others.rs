//! `POST /sessions/revoke-others`.

use crate::app::AppState;
use crate::extract::{AuthKind, Caller, Empty, Keyed};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::{NewEvent, sessions};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RevokedSessions {
    /// How many sessions ended.
    revoked: usize,
}

/// Signs the caller out everywhere but here.
#[utoipa::path(post, path = "/api/v1/sessions/revoke-others", operation_id = "revoke_other_sessions", tag = "auth",
    request_body = Empty, responses((status = 200, body = RevokedSessions)))]
pub(crate) async fn revoke_others(
    State(app): State<AppState>,
    caller: Caller,
    keyed: Keyed<Empty>,
) -> Result<Response> {
    app.allow(&caller, Action::SessionRevoke, &Resource::Account(caller.actor.id)).await?;
    let AuthKind::Session { id } = caller.kind else {
        return Err(Problem::new(Code::Forbidden).detail("only a session knows which one is to stay"));
    };
    if let Some(reply) = keyed.once.replay().await? {
        return Ok(reply);
    }
    let mut tx = app.begin(&caller).await?;
    let revoked = sessions::revoke_of_user(&mut tx, caller.actor.id, Some(id), "by_owner").await?;
    let event = NewEvent::new("session.others_revoked", "user", caller.actor.id);
    tx.record(event.detail(json!({"revoked": revoked})));
    let reply = keyed.once.commit(tx, StatusCode::OK, &RevokedSessions { revoked }).await;
    app.callers.forget();
    reply
}
