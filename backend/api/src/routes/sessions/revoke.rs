//! `DELETE /sessions/{id}`.

use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_store::sessions;
use uuid::Uuid;

/// Ends a session, at once here and within five seconds on other servers.
#[utoipa::path(delete, path = "/api/v1/sessions/{id}", operation_id = "revoke_session", tag = "auth",
    params(("id" = Uuid, Path)), responses((status = 204)))]
pub(crate) async fn revoke(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<StatusCode> {
    let owner = sessions::owner(&app.store, id, app.clock.now()).await?;
    app.allow(&caller, Action::SessionRevoke, &Resource::Account(owner)).await?;
    let mut tx = app.begin(&caller).await?;
    let rule = if owner == caller.actor.id { "by_owner" } else { "by_admin" };
    sessions::revoke(&mut tx, id, rule).await?;
    tx.commit().await?;
    app.callers.forget();
    Ok(StatusCode::NO_CONTENT)
}
