//! `DELETE /join-tokens/{id}`.

use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_store::join_tokens;

/// Ends a join token. Nodes that joined with it stay.
#[utoipa::path(delete, path = "/api/v1/join-tokens/{id}", operation_id = "revoke_join_token", tag = "nodes", params(("id" = String, Path)),
    responses((status = 204, description = "revoked"), (status = 404, description = "no such token")))]
pub(crate) async fn revoke(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode> {
    app.allow(&caller, Action::JoinTokenRevoke, &Resource::Installation).await?;
    let id = id.parse().map_err(|_| Problem::not_found())?;
    let mut tx = app.begin(&caller).await?;
    join_tokens::revoke(&mut tx, id).await?;
    tx.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}
