//! `POST /jobs/batch`.

use super::admit::{admit, look_up};
use super::body::SubmitBatch;
use super::new_job;
use super::submit::{closed, refused};
use crate::app::AppState;
use crate::extract::{Caller, Keyed, Once};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::job_spec::RawJob;
use reeve_store::submit;
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
    let raws: Vec<RawJob> = body.jobs.into_iter().map(RawJob::from).collect();
    let facts = look_up(&app, once.key(), &raws).await?;
    if let Some(reply) = Once::known(facts.known.clone())? {
        return Ok(reply);
    }
    let admitted = admit(&facts, &caller.actor, raws, |index| format!("/jobs/{index}")).map_err(refused)?;
    let context = app.context(&caller);
    let user = caller.actor.id;
    let jobs: Vec<NewJob> = admitted.iter().map(|job| new_job::row(job, user, context.now)).collect();
    let items = jobs.iter().map(|job| BatchItem { id: job.id.0, name: job.name.clone() }).collect();
    let prepared = once.prepare(StatusCode::CREATED, &BatchView { items })?;
    let kept = submit::insert_batch(&app.store, &context, &jobs, prepared.kept()).await;
    prepared.answer(kept, closed).await
}
