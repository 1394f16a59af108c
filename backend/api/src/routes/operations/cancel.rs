//! `POST /operations/{id}/cancel`.

use super::load::load;
use super::view::OperationView;
use crate::app::AppState;
use crate::extract::{Caller, Empty, Keyed};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::Action;
use reeve_store::StoreError;
use reeve_store::operations::{self, OperationState};

/// Asks it to stop. What it had written is thrown away.
#[utoipa::path(post, path = "/api/v1/operations/{id}/cancel", operation_id = "cancel_operation", tag = "operations",
    params(("id" = String, Path)), request_body = Empty, responses((status = 200, body = OperationView)))]
pub(crate) async fn cancel(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    keyed: Keyed<Empty>,
) -> Result<Response> {
    let once = keyed.once;
    let mut found = load(&app, &caller, &id, Action::OperationCancel).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut tx = app.begin(&caller).await?;
    match operations::cancel(&mut tx, found.id).await {
        Err(StoreError::Conflict) => return Err(Problem::new(Code::OperationOver)),
        other => other?,
    }
    if found.state == OperationState::Queued {
        found.state = OperationState::Cancelled;
    }
    once.commit(tx, StatusCode::OK, &OperationView::from(found)).await
}
