//! `POST /jobs/{id}/cancel`.

use super::load::lock;
use super::view::{JobView, one};
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use chrono::TimeDelta;
use reeve_core::access::Action;
use reeve_core::job::JobState;
use reeve_store::jobs::act::{self, LeaveOrder};
use reeve_store::jobs::row::JobRow;
use reeve_store::jobs::show;
use serde::Deserialize;
use utoipa::ToSchema;

/// A cancelled job has this long between TERM and its confirmed end before the operator should look.
const STOP_WITHIN_SECS: i64 = 60;

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WithReason {
    /// Why, for people; at most 500 characters.
    pub(super) reason: Option<String>,
}

/// Ends a job: at once when it waits; when it runs, its processes are stopped and the agents confirm.
#[utoipa::path(post, path = "/api/v1/jobs/{id}/cancel", operation_id = "cancel_job", tag = "jobs", params(("id" = String, Path)),
    request_body = Option<WithReason>,
    responses((status = 200, body = JobView), (status = 403, description = "not yours to cancel"),
              (status = 404, description = "no such job"), (status = 409, description = "it has ended")))]
pub(crate) async fn cancel(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    keyed: Keyed<WithReason>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    checked(&body)?;
    let (mut tx, job) = lock(&app, &caller, &id, Action::JobCancel).await?;
    let why = body.reason.as_deref();
    match job.state()? {
        JobState::Succeeded | JobState::Failed | JobState::Cancelled => return Err(is_final(&job)),
        JobState::Queued => act::cancel_queued(&mut tx, &job, why).await?,
        JobState::Starting | JobState::Running | JobState::Leaving => {
            let order = LeaveOrder {
                cause: "cancelled",
                stop_order: "stop",
                leave_by: tx.now() + TimeDelta::seconds(STOP_WITHIN_SECS),
                action: "job.cancel_asked",
                why,
            };
            act::leave(&mut tx, &job, &order).await?;
        }
    }
    let after = show::get_in(&mut tx, job.job_id()).await?;
    once.commit(tx, StatusCode::OK, &one(&app.store, after).await?).await
}

/// A reason that can be kept.
pub(super) fn checked(body: &WithReason) -> Result<()> {
    let mut fields = Fields::new();
    fields.text("/reason", body.reason.as_deref().unwrap_or_default(), 0, 500);
    fields.done()
}

/// 409: nothing can be done to a job that has ended.
pub(super) fn is_final(job: &JobRow) -> Problem {
    Problem::new(Code::JobIsFinal)
        .detail(format!("the job is {} already", job.state))
        .param("state", job.state.clone())
}
