//! `DELETE /maintenance-windows/{id}`.

use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_store::maintenance_windows;

/// Withdraws a maintenance window; one that is open ends at once, and its nodes take work again.
#[utoipa::path(delete, path = "/api/v1/maintenance-windows/{id}", operation_id = "delete_maintenance_window", tag = "calendar",
    params(("id" = String, Path)),
    responses((status = 204, description = "withdrawn"), (status = 404, description = "no such window")))]
pub(crate) async fn delete(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode> {
    app.allow(&caller, Action::MaintenanceWindowDelete, &Resource::Installation).await?;
    let id = id.parse().map_err(|_| Problem::not_found())?;
    let mut tx = app.begin(&caller).await?;
    maintenance_windows::delete(&mut tx, id).await?;
    tx.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}
