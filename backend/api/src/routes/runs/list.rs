//! `GET /runs`.

use super::view::{TimelineRun, views};
use crate::app::AppState;
use crate::extract::{Caller, LONG_LIMIT, List, LongListParams, PageView};
use crate::problem::{Code, Problem, Result};
use crate::routes::time_past::span;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::{PoolId, QueueId, UserId};
use reeve_core::kind::Kind;
use reeve_store::jobs::admission;
use reeve_store::page::Page;
use reeve_store::{pools, queues, runs, teams};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunFilter {
    /// Runs that were placed before `to` and had not ended at `from`; a span of at most 31 days.
    #[param(value_type = Option<DateTime<Utc>>)]
    from: Option<String>,
    /// Left out = now; `from` left out = 24 hours before.
    #[param(value_type = Option<DateTime<Utc>>)]
    to: Option<String>,
    /// A pool's slug or id.
    pool: Option<String>,
    /// A team's slug or id, everything below it included.
    team: Option<String>,
    /// A queue's slug or id.
    queue: Option<String>,
    kind: Option<String>,
    /// A username or id.
    user: Option<String>,
}

/// Runs that overlap a span of time, latest placed first, each with where its members held GPUs. Sharing is visible:
/// everybody sees them; one of a job that the caller may not read keeps its team, and loses its name.
#[utoipa::path(get, path = "/api/v1/runs", operation_id = "list_runs", tag = "jobs", params(RunFilter, LongListParams),
    responses((status = 200, body = PageView<TimelineRun>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<RunFilter, LONG_LIMIT>,
) -> Result<Response> {
    app.allow(&caller, Action::NodeRead, &Resource::Installation).await?;
    let filter = filter(&app, &list.filter).await?;
    let rows = runs::overlapping(&app.store, &filter, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |run| (run.placed_at, run.id));
    let items = views(&app.store, &caller.actor, page.items).await?;
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}

async fn filter(app: &AppState, asked: &RunFilter) -> Result<runs::Filter> {
    let (from, to) = span(asked.from.as_deref(), asked.to.as_deref(), app.clock.now())?;
    if let Some(Err(error)) = asked.kind.as_deref().map(str::parse::<Kind>) {
        return Err(Problem::new(Code::InvalidQuery).error("kind", "unknown_value", error.to_string()));
    }
    let kind = asked.kind.clone();
    let mut filter = runs::Filter { from, to, pool: None, teams: None, queue: None, kind, user: None };
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
    if let Some(user) = &asked.user {
        filter.user = Some(UserId(admission::user_id(&app.store, user).await?));
    }
    Ok(filter)
}
