//! `POST /budgets`.

use super::rights::resource;
use super::view::{BudgetView, terms, view};
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::id::TeamId;
use reeve_core::money::budget::BudgetUnit;
use reeve_core::priority::PriorityClass;
use reeve_store::version::etag;
use reeve_store::{StoreError, budgets, teams};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBudget {
    /// A team's slug or id; the budget counts for everything below it.
    team: String,
    /// Null or left out = every class.
    priority_class: Option<String>,
    /// `gpu_hours` or `money`.
    unit: String,
    /// A month; a decimal.
    #[schema(example = "1000")]
    amount: String,
    /// `warn`, `approval` or `block`.
    action: String,
    #[serde(default)]
    note: String,
}

/// Makes a monthly budget.
#[utoipa::path(post, path = "/api/v1/budgets", operation_id = "create_budget", tag = "money", request_body = NewBudget,
    responses((status = 201, body = BudgetView)))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    keyed: Keyed<NewBudget>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    let team = teams::find(&app.store, &body.team).await.map_err(|error| match error {
        StoreError::NotFound => {
            Problem::new(Code::UnknownReference).error("/team", "unknown_team", "no such team")
        }
        other => other.into(),
    })?;
    let id = TeamId(team.id);
    app.allow(&caller, Action::BudgetEdit, &resource(&app, id).await?).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut fields = Fields::new();
    let terms = terms(&body.amount, &body.action, &body.note, &mut fields);
    let unit = fields.word::<BudgetUnit>("/unit", &body.unit);
    let class = match &body.priority_class {
        Some(text) => fields.word::<PriorityClass>("/priority_class", text),
        None => None,
    };
    fields.done()?;
    let (Some(terms), Some(unit)) = (terms, unit) else { return Err(Problem::new(Code::InvalidBody)) };
    let mut tx = app.begin(&caller).await?;
    let class = class.map(PriorityClass::as_str);
    let made = budgets::create(&mut tx, id, class, unit, &terms, caller.actor.id).await?;
    let found = budgets::lock(&mut tx, made).await?;
    app.budgets.forget();
    let tag = [("etag", etag(found.version))];
    once.commit_with(tx, StatusCode::CREATED, &view(&found, app.clock.now()), &tag).await
}
