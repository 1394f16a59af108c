//! `GET /budgets/{id}`.

use super::view::{BudgetView, view};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::budgets;

/// A budget with this month's use.
#[utoipa::path(get, path = "/api/v1/budgets/{id}", operation_id = "show_budget", tag = "money", params(("id" = String, Path)),
    responses((status = 200, body = BudgetView)))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response> {
    let id = id.parse().map_err(|_| Problem::not_found())?;
    let found = budgets::find(&app.store, app.clock.now(), id).await?;
    app.allow(&caller, Action::BudgetRead, &Resource::Team(found.standing.team)).await?;
    Ok(versioned(found.version, &view(&found, app.clock.now())))
}
