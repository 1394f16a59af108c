//! `GET /jobs/{id}`.

use super::load::load;
use super::view::{JobView, one};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;

/// One job.
#[utoipa::path(get, path = "/api/v1/jobs/{id}", operation_id = "show_job", tag = "jobs", params(("id" = String, Path)),
    responses((status = 200, body = JobView), (status = 404, description = "no such job, or not yours to see")))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response> {
    let job = load(&app, &caller, &id, Action::JobRead).await?;
    let version = job.version;
    Ok(versioned(version, &one(&app.store, job).await?))
}
