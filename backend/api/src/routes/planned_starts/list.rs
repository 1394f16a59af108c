//! `GET /planned-starts`.

use super::view::{PlannedStartView, views};
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::{PoolId, QueueId};
use reeve_core::kind::Kind;
use reeve_store::jobs::admission;
use reeve_store::page::Page;
use reeve_store::{planned_starts, pools, queues, teams};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlannedStartFilter {
    /// A pool's slug or id.
    pool: Option<String>,
    /// A team's slug or id, everything below it included.
    team: Option<String>,
    /// A queue's slug or id.
    queue: Option<String>,
    kind: Option<String>,
}

/// Waiting jobs whose space is kept or promised, soonest first: when and where each is to start, and on what that rests.
/// Unknown moments come last. Whose name the caller may not read keeps its team.
#[utoipa::path(get, path = "/api/v1/planned-starts", operation_id = "list_planned_starts", tag = "jobs",
    params(PlannedStartFilter, ListParams), responses((status = 200, body = PageView<PlannedStartView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<PlannedStartFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::NodeRead, &Resource::Installation).await?;
    let filter = filter(&app, &list.filter).await?;
    let rows = planned_starts::list(&app.store, &filter, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |start| (start.starts_at, start.job_id));
    let items = views(&app.store, &caller.actor, page.items).await?;
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}

async fn filter(app: &AppState, asked: &PlannedStartFilter) -> Result<planned_starts::Filter> {
    if let Some(Err(error)) = asked.kind.as_deref().map(str::parse::<Kind>) {
        return Err(Problem::new(Code::InvalidQuery).error("kind", "unknown_value", error.to_string()));
    }
    let kind = asked.kind.clone();
    let mut filter = planned_starts::Filter { kind, ..planned_starts::Filter::default() };
    if let Some(pool) = &asked.pool {
        filter.pool = Some(PoolId(pools::find(&app.store, pool).await?.id));
    }
    if let Some(team) = &asked.team {
        let team = teams::find(&app.store, team).await?.id;
        filter.teams = Some(admission::subtree(&app.store, team).await?);
    }
    if let Some(queue) = &asked.queue {
        filter.queue = Some(QueueId(queues::find(&app.store, queue).await?.id));
    }
    Ok(filter)
}
