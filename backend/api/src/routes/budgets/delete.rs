//! `DELETE /budgets/{id}`.

use super::rights::resource;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch};
use crate::problem::{Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::Action;
use reeve_store::budgets;

/// Removes a budget, with its exceptions.
#[utoipa::path(delete, path = "/api/v1/budgets/{id}", operation_id = "delete_budget", tag = "money", params(("id" = String, Path)),
    responses((status = 204)))]
pub(crate) async fn delete(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    if_match: IfMatch,
) -> Result<StatusCode> {
    let id = id.parse().map_err(|_| Problem::not_found())?;
    let known = budgets::find(&app.store, app.clock.now(), id).await?;
    app.allow(&caller, Action::BudgetEdit, &resource(&app, known.standing.team).await?).await?;
    let mut tx = app.begin(&caller).await?;
    let before = budgets::lock(&mut tx, id).await?;
    if_match.require(before.version)?;
    budgets::delete(&mut tx, &before).await?;
    tx.commit().await?;
    app.budgets.forget();
    Ok(StatusCode::NO_CONTENT)
}
