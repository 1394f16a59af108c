//! `GET /idle-notices`.

use super::view::{IdleNoticeView, notice_view};
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Readable, Resource};
use reeve_core::id::JobId;
use reeve_store::idle::list as notices;
use reeve_store::jobs::admission;
use reeve_store::page::Page;
use reeve_store::teams;
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct IdleFilter {
    /// A team's slug or id, everything below it included.
    team: Option<String>,
    /// A job's id: its whole history.
    job: Option<String>,
    /// With those that are over; left out = only open ones, unless `job` is given.
    closed: Option<bool>,
}

/// Jobs whose GPUs compute nothing, of those that the caller may see, newest first, each with its evidence and what follows.
#[utoipa::path(get, path = "/api/v1/idle-notices", operation_id = "list_idle_notices", tag = "jobs", params(IdleFilter, ListParams),
    responses((status = 200, body = PageView<IdleNoticeView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<IdleFilter>,
) -> Result<Response> {
    // Anybody may ask; the filter below shows only what the caller may read.
    app.allow(&caller, Action::QueueRead, &Resource::Installation).await?;
    let asked = &list.filter;
    let mut filter = notices::Filter {
        readable: match caller.actor.readable() {
            Readable::Everything => None,
            Readable::Teams(teams) => Some(teams.into_iter().map(|team| team.0).collect()),
        },
        open: !asked.closed.unwrap_or(asked.job.is_some()),
        ..notices::Filter::default()
    };
    if let Some(team) = &asked.team {
        let team = teams::find(&app.store, team).await?.id;
        filter.teams = Some(admission::subtree(&app.store, team).await?);
    }
    if let Some(job) = &asked.job {
        let job: JobId = job
            .parse()
            .map_err(|_| Problem::new(Code::InvalidQuery).error("job", "invalid_value", "a job's id"))?;
        filter.job = Some(job);
    }
    let rows = notices::list(&app.store, &filter, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |notice| notice.id);
    let now = app.clock.now();
    let items =
        page.items.into_iter().map(|notice| notice_view(notice, now)).collect::<Result<Vec<_>, _>>()?;
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}
