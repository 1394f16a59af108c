//! `DELETE /reservations/{id}`.

use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_store::reservations;

/// Withdraws a reservation. What the team runs by then runs on.
#[utoipa::path(delete, path = "/api/v1/reservations/{id}", operation_id = "delete_reservation", tag = "calendar",
    params(("id" = String, Path)),
    responses((status = 204, description = "withdrawn"), (status = 404, description = "no such reservation")))]
pub(crate) async fn delete(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode> {
    app.allow(&caller, Action::ReservationDelete, &Resource::Installation).await?;
    let id = id.parse().map_err(|_| Problem::not_found())?;
    let mut tx = app.begin(&caller).await?;
    reservations::delete(&mut tx, id).await?;
    tx.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}
