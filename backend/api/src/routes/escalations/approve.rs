//! `POST /escalations/{id}/approve`.

use super::act::{Acting, fault, raced};
use super::body::Approve;
use super::view::EscalationView;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Keyed};
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_store::escalations::decide::{self, Decision};

/// Approves the step that waits, whole or less of it: a lower level, fewer GPUs or hours, a shorter time. With the last
/// step it is active at once, unless it begins later. `If-Match` is required: what is approved is what was seen.
#[utoipa::path(post, path = "/api/v1/escalations/{id}/approve", operation_id = "approve_escalation", tag = "approvals",
    params(("id" = String, Path), ("If-Match" = String, Header, description = "The ETag of what was seen")),
    request_body = Option<Approve>,
    responses((status = 200, body = EscalationView),
              (status = 403, description = "own request, a second step by one person, or no approver of this step"),
              (status = 404, description = "no such escalation"), (status = 409, description = "it does not wait for this"),
              (status = 412, description = "changed since it was read"),
              (status = 422, description = "more than was asked, or a quota that does not fit its tree"),
              (status = 428, description = "If-Match is required")))]
pub(crate) async fn approve(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    if_match: IfMatch,
    keyed: Keyed<Approve>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let less = body.checked()?;
    let acting = Acting::begin(&app, &caller, &id, Action::EscalationDecide, "escalation.approve").await?;
    let judged = acting.case.clone().approve(acting.by, less);
    let (acting, after) = acting.judged(judged).await?;
    let mut acting = acting.seen(if_match).await?;
    let decision = Decision { by: caller.actor.id, comment: body.comment.as_deref() };
    let approved = decide::approve(&mut acting.tx, &acting.row, &after, decision).await.map_err(raced)?;
    match approved {
        Ok(row) => acting.commit(once, row).await,
        Err(why) => Err(acting.refuse("effect", fault(why)).await),
    }
}
