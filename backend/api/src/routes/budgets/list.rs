//! `GET /budgets`.

use super::view::{BudgetView, view};
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Readable, Resource};
use reeve_core::id::TeamId;
use reeve_store::jobs::admission;
use reeve_store::{budgets, teams};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct BudgetFilter {
    /// A team's slug or id, everything below it included.
    team: Option<String>,
}

/// Budgets with this month's use. Whoever belongs to a team sees its budgets.
#[utoipa::path(get, path = "/api/v1/budgets", operation_id = "list_budgets", tag = "money", params(BudgetFilter, ListParams),
    responses((status = 200, body = PageView<BudgetView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<BudgetFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::OverviewRead, &Resource::Installation).await?;
    let mut seen = match caller.actor.readable() {
        Readable::Everything => None,
        Readable::Teams(teams) => Some(teams),
    };
    if let Some(team) = &list.filter.team {
        let team = teams::find(&app.store, team).await?.id;
        app.allow(&caller, Action::BudgetRead, &Resource::Team(TeamId(team))).await?;
        let below = admission::subtree(&app.store, team).await?;
        seen = Some(below.into_iter().map(TeamId).collect());
    }
    let now = app.clock.now();
    let rows = budgets::list(&app.store, now, seen.as_deref(), list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |budget| budget.standing.id);
    Ok(list.reply(page.map(|budget| view(&budget, now))))
}
