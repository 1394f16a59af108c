//! `GET /jobs/{id}/runs`.

use super::load::load;
use super::runs_view::{RunView, views};
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_store::jobs::show;
use reeve_store::page::Page;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFilter {}

/// A job's attempts with their members, newest first.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/runs", operation_id = "list_job_runs", tag = "jobs", params(("id" = String, Path), ListParams),
    responses((status = 200, body = PageView<RunView>), (status = 404, description = "no such job")))]
pub(crate) async fn runs(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    list: List<NoFilter>,
) -> Result<Response> {
    let job = load(&app, &caller, &id, Action::JobRead).await?;
    let rows = show::runs(&app.store, job.job_id(), list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |run| run.number);
    let items = views(&app.store, page.items).await?;
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}
