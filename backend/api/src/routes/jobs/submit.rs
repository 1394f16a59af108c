//! `POST /jobs`.

use super::body::SubmitJob;
use super::keep::{Request, Shape};
use super::view::JobView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::job_spec::RawJob;

/// Puts a job in line. Over quota is no error: the job waits, with a reason.
#[utoipa::path(post, path = "/api/v1/jobs", operation_id = "submit_job", tag = "jobs", request_body = SubmitJob,
    responses((status = 201, body = JobView), (status = 403, description = "not a member of the team"),
              (status = 422, description = "wrong in itself; `errors` names every field")))]
pub(crate) async fn submit(
    State(app): State<AppState>,
    caller: Caller,
    keyed: Keyed<SubmitJob>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    let raws = vec![RawJob::from(body)];
    let request = Request { caller, raws, key: once.key().cloned(), shape: Shape::One };
    once.answer(app.gather.keep(&app, request).await).await
}
