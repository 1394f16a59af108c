//! `DELETE /priority-budgets/{team}`.

use crate::app::AppState;
use crate::extract::{Caller, IfMatch};
use crate::problem::{Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_store::{priority_budgets, teams};

/// Takes a team's budget away: the nearest above it counts then, if there is one.
#[utoipa::path(delete, path = "/api/v1/priority-budgets/{team}", operation_id = "delete_priority_budget", tag = "approvals",
    params(("team" = String, Path)),
    responses((status = 204, description = "taken away"), (status = 404, description = "no such team or budget")))]
pub(crate) async fn delete(
    State(app): State<AppState>,
    caller: Caller,
    Path(team): Path<String>,
    if_match: IfMatch,
) -> Result<StatusCode> {
    let team = TeamId(teams::find(&app.store, &team).await?.id);
    app.allow(&caller, Action::PriorityBudgetEdit, &Resource::Team(team)).await?;
    let mut tx = app.begin(&caller).await?;
    let before = priority_budgets::lock(&mut tx, team).await?.ok_or_else(Problem::not_found)?;
    if_match.require(before.1)?;
    priority_budgets::delete(&mut tx, team, before).await?;
    tx.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}
