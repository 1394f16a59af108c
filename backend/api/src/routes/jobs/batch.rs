//! `POST /jobs/batch`.

use super::body::SubmitBatch;
use super::keep::{self, Request, Shape};
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::response::Response;
use reeve_core::job_spec::RawJob;
use reeve_store::submit::NewJob;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Most jobs of a batch.
const MAX_JOBS: usize = 1_000;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchView {
    items: Vec<BatchItem>,
}

impl BatchView {
    pub(super) fn of(jobs: &[NewJob]) -> Self {
        Self { items: jobs.iter().map(|job| BatchItem { id: job.id.0, name: job.name.clone() }).collect() }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchItem {
    id: Uuid,
    name: String,
}

/// Puts up to 1,000 jobs in line, all or none.
#[utoipa::path(post, path = "/api/v1/jobs/batch", operation_id = "submit_job_batch", tag = "jobs", request_body = SubmitBatch,
    responses((status = 201, body = BatchView), (status = 403, description = "not a member of a team"),
              (status = 422, description = "wrong in itself; pointers begin with /jobs/<n>")))]
pub(crate) async fn batch(
    State(app): State<AppState>,
    caller: Caller,
    keyed: Keyed<SubmitBatch>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    if !(1..=MAX_JOBS).contains(&body.jobs.len()) {
        let detail = format!("a batch has 1 to {MAX_JOBS} jobs, this has {}", body.jobs.len());
        return Err(Problem::new(Code::InvalidBody).detail(&*detail).error("/jobs", "out_of_range", detail));
    }
    let raws = body.jobs.into_iter().map(RawJob::from).collect();
    let request = Request { caller, raws, key: once.key().cloned(), shape: Shape::Batch };
    once.answer(keep::alone(&app, &request).await).await
}
