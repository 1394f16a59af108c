//! `PUT /priority-budgets/{team}`.

use super::view::PriorityBudgetView;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json, Precondition};
use crate::problem::{Code, Fields, Problem, Result};
use crate::reply::versioned_with;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_store::{StoreError, priority_budgets, teams};
use serde::Deserialize;
use utoipa::ToSchema;

const MOST_GPU_HOURS: i64 = 1_000_000_000;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PutPriorityBudget {
    /// A calendar month's.
    #[schema(minimum = 0, maximum = 1000000000)]
    gpu_hours: i64,
}

/// Sets a team's budget of high-priority GPU-hours: with `If-None-Match: *` a new one, with `If-Match` the one that was
/// read. It counts for the teams below as well, unless they have their own.
#[utoipa::path(put, path = "/api/v1/priority-budgets/{team}", operation_id = "put_priority_budget", tag = "approvals",
    params(("team" = String, Path)), request_body = PutPriorityBudget,
    responses((status = 200, body = PriorityBudgetView), (status = 201, body = PriorityBudgetView),
              (status = 404, description = "no such team"),
              (status = 412, description = "changed since it was read, or exists already"),
              (status = 428, description = "neither If-Match nor If-None-Match")))]
pub(crate) async fn put(
    State(app): State<AppState>,
    caller: Caller,
    Path(team): Path<String>,
    if_match: IfMatch,
    Json(body): Json<PutPriorityBudget>,
) -> Result<Response> {
    let team = TeamId(teams::find(&app.store, &team).await?.id);
    app.allow(&caller, Action::PriorityBudgetEdit, &Resource::Team(team)).await?;
    let mut fields = Fields::new();
    fields.range("/gpu_hours", body.gpu_hours, 0, MOST_GPU_HOURS);
    fields.done()?;
    let mut tx = app.begin(&caller).await?;
    let before = priority_budgets::lock(&mut tx, team).await?;
    expect(if_match, before)?;
    match priority_budgets::put(&mut tx, team, before, body.gpu_hours).await {
        Err(StoreError::Duplicate { .. }) => return Err(Problem::new(Code::StaleVersion)),
        done => done?,
    }
    tx.commit().await?;
    let row = priority_budgets::list(&app.store, Some(team), None, None, app.clock.now(), 1).await?.pop();
    let view = PriorityBudgetView::from(row.ok_or_else(Problem::not_found)?);
    let status = if before.is_some() { StatusCode::OK } else { StatusCode::CREATED };
    Ok(versioned_with(status, view.version, &view))
}

/// 428 without a condition, 412 when the budget is not as the caller believes.
pub(super) fn expect(if_match: IfMatch, before: Option<(i64, i64)>) -> Result<()> {
    match (if_match.0, before) {
        (Precondition::Absent, None) => Err(Problem::new(Code::PreconditionRequired)
            .detail("this budget does not exist yet: send If-None-Match: * to create it")),
        (Precondition::MustNotExist, None) => Ok(()),
        (_, None) => Err(Problem::new(Code::StaleVersion).detail("there is no such budget any more")),
        (_, Some((_, version))) => if_match.require(version),
    }
}
