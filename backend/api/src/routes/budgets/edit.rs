//! `PATCH /budgets/{id}`.

use super::rights::resource;
use super::view::{BudgetView, terms, view};
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json, not_null};
use crate::problem::{Code, Fields, Problem, Result};
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::money::decimal::{MICRO_DIGITS, format};
use reeve_store::budgets;
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditBudget {
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    amount: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    action: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    note: Option<String>,
}

/// Changes a budget; what is left out stays.
#[utoipa::path(patch, path = "/api/v1/budgets/{id}", operation_id = "edit_budget", tag = "money", params(("id" = String, Path)),
    request_body = EditBudget, responses((status = 200, body = BudgetView)))]
pub(crate) async fn edit(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    if_match: IfMatch,
    Json(body): Json<EditBudget>,
) -> Result<Response> {
    let id = id.parse().map_err(|_| Problem::not_found())?;
    let known = budgets::find(&app.store, app.clock.now(), id).await?;
    app.allow(&caller, Action::BudgetEdit, &resource(&app, known.standing.team).await?).await?;
    let mut tx = app.begin(&caller).await?;
    let before = budgets::lock(&mut tx, id).await?;
    if_match.require(before.version)?;
    let amount = format(i128::from(before.standing.amount_micros), MICRO_DIGITS, 0);
    let mut fields = Fields::new();
    let terms = terms(
        body.amount.as_deref().unwrap_or(&amount),
        body.action.as_deref().unwrap_or(before.standing.action.as_str()),
        body.note.as_deref().unwrap_or(&before.note),
        &mut fields,
    );
    fields.done()?;
    let terms = terms.ok_or_else(|| Problem::new(Code::InvalidBody))?;
    budgets::edit(&mut tx, &before, &terms).await?;
    tx.commit().await?;
    app.budgets.forget();
    let after = budgets::find(&app.store, app.clock.now(), id).await?;
    Ok(versioned(after.version, &view(&after, app.clock.now())))
}
