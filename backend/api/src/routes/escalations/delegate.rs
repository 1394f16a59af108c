//! `POST /escalations/{id}/delegate`.

use super::act::{Acting, raced};
use super::body::prose;
use super::view::EscalationView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::id::UserId;
use reeve_store::escalations::decide;
use reeve_store::{StoreError, users};
use serde::Deserialize;
use utoipa::ToSchema;

/// To whom.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Delegate {
    /// Username or id.
    to: String,
    #[schema(max_length = 2000)]
    comment: Option<String>,
}

/// Hands the step that waits to a person, who may then decide it for as long as whoever handed it over could. It leaves
/// the inbox of the latter; others of the step may still decide.
#[utoipa::path(post, path = "/api/v1/escalations/{id}/delegate", operation_id = "delegate_escalation", tag = "approvals",
    params(("id" = String, Path)), request_body = Delegate,
    responses((status = 200, body = EscalationView),
              (status = 403, description = "no approver of this step, or a person who may not decide it"),
              (status = 404, description = "no such escalation"), (status = 409, description = "it does not wait for this"),
              (status = 422, description = "no such person")))]
pub(crate) async fn delegate(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    keyed: Keyed<Delegate>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut fields = Fields::new();
    prose(&mut fields, "/comment", body.comment.as_deref().unwrap_or_default(), 0);
    fields.done()?;
    let person = match users::find(&app.store, &body.to).await {
        Ok(user) if user.state == "active" => Ok(user),
        Ok(_) | Err(StoreError::NotFound) => Err(Problem::new(Code::UnknownReference).error(
            "/to",
            "unknown_user",
            "nobody of this name may sign in: give a username or id",
        )),
        Err(other) => Err(other.into()),
    };
    let acting = Acting::begin(&app, &caller, &id, Action::EscalationDecide, "escalation.delegate").await?;
    let judged = acting.case.may_decide(acting.by);
    let (acting, ()) = acting.judged(judged).await?;
    let person = person?;
    let to = UserId(person.id);
    let judged = acting.case.may_receive(to);
    let (mut acting, ()) = acting.judged(judged).await?;
    let comment = body.comment.as_deref();
    let named = (to, person.username.as_str());
    let row = decide::delegate(&mut acting.tx, &acting.row, caller.actor.id, named, comment)
        .await
        .map_err(raced)?;
    acting.commit(once, row).await
}
