//! `GET /jobs/{id}/events`.

use super::load::load;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use crate::routes::events::view::EventView;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_store::event::{self, EventFilter};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFilter {}

/// What happened to a job, newest first. An event appears once it is sealed, a moment after it happened.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/events", operation_id = "list_job_events", tag = "jobs",
    params(("id" = String, Path), ListParams),
    responses((status = 200, body = PageView<EventView>), (status = 404, description = "no such job")))]
pub(crate) async fn events(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    list: List<NoFilter>,
) -> Result<Response> {
    let job = load(&app, &caller, &id, Action::JobRead).await?;
    let filter = EventFilter {
        subject_types: vec!["job".to_owned()],
        subject_id: Some(job.id),
        ..EventFilter::default()
    };
    let rows = event::before(&app.store, list.after()?, &filter, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |event| event.position).map(EventView::from)))
}
