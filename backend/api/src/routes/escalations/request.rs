//! `POST /escalations`.

use super::act::fault;
use super::asked::asked;
use super::body::RequestEscalation;
use super::people::{People, afresh};
use super::route::{Cost, routed};
use super::view::{EscalationView, view};
use crate::app::AppState;
use crate::extract::{Caller, Keyed, Once};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::Actor;
use reeve_store::escalations::request::{self, NewEscalation};
use reeve_store::escalations::show;
use reeve_store::version::etag;
use reeve_store::{NewEvent, StoreError, policy};

/// Asks for more than the rules give: a priority above the ceiling, another quota, more budget, or that a job is not
/// evicted. The policy says who decides; it may approve or refuse by itself. An emergency is active at once.
#[utoipa::path(post, path = "/api/v1/escalations", operation_id = "request_escalation", tag = "approvals",
    request_body = RequestEscalation,
    responses((status = 201, body = EscalationView), (status = 403, description = "not your team, or no right to an emergency"),
              (status = 404, description = "no such job, or none that the caller may see"),
              (status = 409, description = "one is open for the same thing, or the job has ended"),
              (status = 422, description = "a field is wrong, or it asks for nothing new")))]
pub(crate) async fn request(
    State(app): State<AppState>,
    caller: Caller,
    keyed: Keyed<RequestEscalation>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let in_force = policy::in_force(&app.store).await?;
    let asked = asked(&app, &caller, body, &in_force.document).await?;
    let actor = afresh(&app, &caller).await?;
    let cost = Cost::of(&app, &asked).await?;
    let new = match routed(&app, &actor, &asked, &in_force, &cost, None).await {
        Err(problem) if problem.code == Code::BreakGlassRefused => {
            let mut tx = app.begin(&caller).await?;
            let mut event = NewEvent::new("escalation.break_glass", "escalation", uuid::Uuid::nil())
                .team(asked.team)
                .denied(problem.code.as_str());
            event.subject_id = None;
            tx.record(event);
            tx.commit().await?;
            return Err(problem);
        }
        routed => routed?,
    };
    keep(&app, &caller, actor, once, &new).await
}

/// Keeps a new one, and answers with it.
pub(super) async fn keep(
    app: &AppState,
    caller: &Caller,
    actor: Actor,
    once: Once,
    new: &NewEscalation,
) -> Result<Response> {
    let mut tx = app.begin(caller).await?;
    let row = match request::create(&mut tx, new).await {
        Ok(created) => created.map_err(fault)?,
        Err(StoreError::Duplicate { constraint }) if constraint == request::OPEN => {
            return Err(Problem::new(Code::EscalationOpen));
        }
        Err(other) => return Err(other.into()),
    };
    let company = show::company_in(&mut tx, &[row.id]).await?;
    // Nobody has handed anything over yet.
    let people = People::alone(actor);
    let by = people.by(&row, &company.seats);
    let version = row.version;
    let view: EscalationView = view(row, &company, by)?;
    let reply = once.commit_with(tx, StatusCode::CREATED, &view, &[("etag", etag(version))]).await;
    if new.budget.is_some() {
        app.budgets.forget();
    }
    reply
}
