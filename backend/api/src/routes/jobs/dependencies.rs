//! `GET /jobs/{id}/dependencies` and `GET /jobs/{id}/dependents`.

use super::load::load;
use super::runs::NoFilter;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use crate::refs::{JobRef, TeamRef};
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::{Action, Resource, Verdict, may};
use reeve_core::id::{TeamId, UserId};
use reeve_store::dependencies::{self, Other};
use reeve_store::page::Page;
use serde::Serialize;
use utoipa::ToSchema;

/// One job that is waited for, or that waits.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DependencyView {
    /// Null where the caller may not read it.
    job: Option<JobRef>,
    state: String,
    /// `ok`, `any` or `failed`: how the one that is waited for has to end.
    condition: String,
    /// Null = it has not ended.
    met: Option<bool>,
}

/// The jobs for whose ends this one waits, or waited.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/dependencies", operation_id = "list_job_dependencies", tag = "jobs", params(("id" = String, Path), ListParams),
    responses((status = 200, body = PageView<DependencyView>), (status = 404, description = "no such job")))]
pub(crate) async fn dependencies(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    list: List<NoFilter>,
) -> Result<Response> {
    let job = load(&app, &caller, &id, Action::JobRead).await?;
    let rows = dependencies::waits_for(&app.store, job.job_id(), list.after()?, list.fetch()).await?;
    Ok(reply(&caller, &list, rows))
}

/// The jobs that wait, or waited, for the end of this one.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/dependents", operation_id = "list_job_dependents", tag = "jobs", params(("id" = String, Path), ListParams),
    responses((status = 200, body = PageView<DependencyView>), (status = 404, description = "no such job")))]
pub(crate) async fn dependents(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    list: List<NoFilter>,
) -> Result<Response> {
    let job = load(&app, &caller, &id, Action::JobRead).await?;
    let rows = dependencies::waited_for_by(&app.store, job.job_id(), list.after()?, list.fetch()).await?;
    Ok(reply(&caller, &list, rows))
}

fn reply(caller: &Caller, list: &List<NoFilter>, rows: Vec<Other>) -> Response {
    let page = list.cut(rows, |other| other.id);
    let items = page.items.into_iter().map(|other| view(caller, other)).collect();
    list.reply(Page { items, next_cursor: page.next_cursor })
}

fn view(caller: &Caller, other: Other) -> DependencyView {
    let resource = Resource::Job { team: TeamId(other.team_id), owner: UserId(other.user_id) };
    let readable = may(&caller.actor, Action::JobRead, &resource) == Verdict::Allowed;
    let team = TeamRef { id: other.team_id, slug: other.team_slug, name: other.team_name };
    DependencyView {
        job: readable.then_some(JobRef { id: other.id, name: other.name, team }),
        state: other.state,
        condition: other.condition,
        met: other.met,
    }
}
