//! `POST /jobs`.

use super::admit::{Refusal, admit, look_up};
use super::body::SubmitJob;
use super::new_job;
use super::view::JobView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed, Once};
use crate::problem::{Code, FieldError, Problem, Result};
use crate::refs::UserRef;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::job_spec::RawJob;
use reeve_store::{StoreError, submit};

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
    let raw = vec![RawJob::from(body)];
    let facts = look_up(&app, once.key(), &raw).await?;
    if let Some(reply) = Once::known(facts.known.clone())? {
        return Ok(reply);
    }
    let admitted = admit(&facts, &caller.actor, raw, |_| String::new()).map_err(refused)?.remove(0);
    let context = app.context(&caller);
    let job = new_job::row(&admitted, caller.actor.id, context.now);
    let view = new_job::view(&job, &admitted, user_ref(&caller));
    let prepared = once.prepare(StatusCode::CREATED, &view)?;
    let kept = submit::insert_batch(&app.store, &context, &[job], prepared.kept()).await;
    prepared.answer(kept, closed).await
}

fn user_ref(caller: &Caller) -> UserRef {
    UserRef {
        id: caller.actor.id.0,
        username: caller.username.clone(),
        display_name: caller.display_name.clone(),
    }
}

/// A refusal as a problem. A lone fault with a code of its own gives the problem its code.
pub(super) fn refused(refusal: Refusal) -> Problem {
    let faults = match refusal {
        Refusal::Forbidden { team } => {
            return Problem::new(Code::Forbidden).detail(format!(
                "you are no member of team {team}: ask one of its leads to add you, or submit to your own team"
            ));
        }
        Refusal::Faults(faults) => faults,
    };
    let code = match faults.as_slice() {
        [only] if only.code == "priority_above_ceiling" => Code::PriorityAboveCeiling,
        _ => Code::InvalidBody,
    };
    let mut problem = Problem::new(code);
    problem.detail = faults
        .iter()
        .take(3)
        .map(|fault| format!("{}: {}", fault.pointer, fault.detail))
        .collect::<Vec<_>>()
        .join("; ");
    problem.errors = faults
        .into_iter()
        .map(|fault| FieldError { pointer: fault.pointer, code: fault.code.to_owned(), detail: fault.detail })
        .collect();
    problem
}

/// The queue was closed, or the team deleted, between looking and keeping.
pub(super) fn closed(error: StoreError) -> Problem {
    match error {
        StoreError::Conflict => Problem::new(Code::Conflict)
            .detail("the queue was closed or the team deleted meanwhile: choose another queue"),
        other => other.into(),
    }
}
