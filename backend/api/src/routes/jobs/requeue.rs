//! `POST /jobs/{id}/requeue`.

use super::cancel::{WithReason, checked};
use super::load::lock;
use super::view::{JobView, one};
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use chrono::TimeDelta;
use reeve_core::access::Action;
use reeve_core::job::JobState;
use reeve_core::policy::Place;
use reeve_store::jobs::act::{self, LeaveOrder};
use reeve_store::jobs::show;
use reeve_store::{policy, teams};

/// Puts a job in line again with its original age: an ended one at once; a running one after it has had its grace
/// to checkpoint and leave.
#[utoipa::path(post, path = "/api/v1/jobs/{id}/requeue", operation_id = "requeue_job", tag = "jobs", params(("id" = String, Path)),
    request_body = Option<WithReason>,
    responses((status = 200, body = JobView), (status = 404, description = "no such job"),
              (status = 409, description = "it waits already, is leaving, or may not be requeued")))]
pub(crate) async fn requeue(
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
    let (mut tx, job) = lock(&app, &caller, &id, Action::JobRequeue).await?;
    match job.state()? {
        JobState::Succeeded | JobState::Failed | JobState::Cancelled => {
            act::requeue_ended(&mut tx, &job).await?;
        }
        JobState::Starting | JobState::Running if job.requeue => {
            let kind = job.kind.parse().map_err(reeve_store::StoreError::from)?;
            let teams = teams::chain(&app.store, job.team()).await?;
            let teams: Vec<&str> = teams.iter().map(String::as_str).collect();
            let place = Place { queue: Some(&job.queue_slug), teams: &teams };
            let grace = policy::in_force(&app.store).await?.document.rules_at(kind, place).grace_secs;
            let order = LeaveOrder {
                cause: "operator",
                stop_order: "leave",
                leave_by: tx.now() + TimeDelta::seconds(grace),
                action: "job.requeue_asked",
                why: body.reason.as_deref(),
            };
            act::leave(&mut tx, &job, &order).await?;
        }
        state => {
            return Err(Problem::new(Code::JobNotRequeueable)
                .detail(format!("the job is {state} and requeue is {}: nothing to requeue", job.requeue))
                .param("state", state.as_str()));
        }
    }
    let after = show::get_in(&mut tx, job.job_id()).await?;
    once.commit(tx, StatusCode::OK, &one(&app.store, after).await?).await
}
