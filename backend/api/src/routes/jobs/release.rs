//! `POST /jobs/{id}/release`.

use super::cancel::is_final;
use super::load::lock;
use super::view::{JobView, one};
use crate::app::AppState;
use crate::extract::{Caller, Empty, Keyed};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::job::JobState;
use reeve_store::jobs::{act, show};

/// Lets a held job start again.
#[utoipa::path(post, path = "/api/v1/jobs/{id}/release", operation_id = "release_job", tag = "jobs", params(("id" = String, Path)),
    request_body = Option<Empty>,
    responses((status = 200, body = JobView), (status = 404, description = "no such job"),
              (status = 409, description = "it does not wait any more")))]
pub(crate) async fn release(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    keyed: Keyed<Empty>,
) -> Result<Response> {
    let once = keyed.once;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let (mut tx, job) = lock(&app, &caller, &id, Action::JobRelease).await?;
    match job.state()? {
        JobState::Queued => act::set_held(&mut tx, &job, false).await?,
        state if state.is_final() => return Err(is_final(&job)),
        state => {
            return Err(Problem::new(Code::JobNotQueued)
                .detail(format!("the job is {state}: only a waiting job can be held or released"))
                .param("state", state.as_str()));
        }
    }
    let after = show::get_in(&mut tx, job.job_id()).await?;
    once.commit(tx, StatusCode::OK, &one(&app.store, after).await?).await
}
