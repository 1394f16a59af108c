//! `GET /priority-budgets`.

use super::view::PriorityBudgetView;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Readable, Resource};
use reeve_core::id::TeamId;
use reeve_store::{priority_budgets, teams};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriorityBudgetFilter {
    /// A team's slug or id: only its own.
    team: Option<String>,
}

/// Budgets of high-priority GPU-hours with their month's figures, of the teams that the caller reads.
#[utoipa::path(get, path = "/api/v1/priority-budgets", operation_id = "list_priority_budgets", tag = "approvals",
    params(PriorityBudgetFilter, ListParams), responses((status = 200, body = PageView<PriorityBudgetView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<PriorityBudgetFilter>,
) -> Result<Response> {
    let team = match &list.filter.team {
        Some(team) => Some(TeamId(teams::find(&app.store, team).await?.id)),
        None => None,
    };
    let resource = team.map_or(Resource::Account(caller.actor.id), Resource::Team);
    app.allow(&caller, Action::PriorityBudgetRead, &resource).await?;
    let readable = match caller.actor.readable() {
        Readable::Everything => None,
        Readable::Teams(teams) => Some(teams),
    };
    let now = app.clock.now();
    let rows =
        priority_budgets::list(&app.store, team, readable.as_deref(), list.after()?, now, list.fetch())
            .await?;
    Ok(list.reply(list.cut(rows, |row| row.team_slug.clone()).map(PriorityBudgetView::from)))
}
