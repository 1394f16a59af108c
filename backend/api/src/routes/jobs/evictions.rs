//! `GET /jobs/{id}/evictions`.

use super::load::load;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use crate::routes::evictions::view::{EvictionView, views};
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_store::evictions;
use reeve_store::page::Page;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFilter {}

/// How often and why a job was evicted, newest first.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/evictions", operation_id = "list_job_evictions", tag = "jobs", params(("id" = String, Path), ListParams),
    responses((status = 200, body = PageView<EvictionView>), (status = 404, description = "no such job")))]
pub(crate) async fn evictions(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    list: List<NoFilter>,
) -> Result<Response> {
    let job = load(&app, &caller, &id, Action::JobRead).await?;
    let filter = evictions::Filter { job: Some(job.job_id()), ..evictions::Filter::default() };
    let rows = evictions::list(&app.store, &filter, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |eviction| eviction.id);
    let items = views(&app.store, page.items).await?;
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}
