//! `DELETE /tokens/{id}`.

use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_store::tokens;
use uuid::Uuid;

/// Revokes an API token, at once here and within five seconds on other servers.
#[utoipa::path(delete, path = "/api/v1/tokens/{id}", operation_id = "revoke_token", tag = "tokens",
    params(("id" = Uuid, Path)), responses((status = 204)))]
pub(crate) async fn revoke(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<StatusCode> {
    let owner = tokens::owner(&app.store, id).await?;
    app.allow(&caller, Action::TokenRevoke, &Resource::Account(owner)).await?;
    let mut tx = app.begin(&caller).await?;
    tokens::revoke(&mut tx, id).await?;
    tx.commit().await?;
    app.callers.forget();
    Ok(StatusCode::NO_CONTENT)
}
