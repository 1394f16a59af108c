//! `POST /escalations/{id}/deny`.

use super::act::{Acting, raced};
use super::body::MustComment;
use super::view::EscalationView;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Keyed};
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::approval::Act;
use reeve_store::escalations::decide::{self, Decision};

/// Denies it at the step that waits, and says why. `If-Match` is required: what is denied is what was seen.
#[utoipa::path(post, path = "/api/v1/escalations/{id}/deny", operation_id = "deny_escalation", tag = "approvals",
    params(("id" = String, Path), ("If-Match" = String, Header, description = "The ETag of what was seen")),
    request_body = MustComment,
    responses((status = 200, body = EscalationView),
              (status = 403, description = "own request, or no approver of this step"),
              (status = 404, description = "no such escalation"), (status = 409, description = "it does not wait for this"),
              (status = 412, description = "changed since it was read"),
              (status = 428, description = "If-Match is required")))]
pub(crate) async fn deny(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    if_match: IfMatch,
    keyed: Keyed<MustComment>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let comment = body.checked()?;
    let acting = Acting::begin(&app, &caller, &id, Action::EscalationDecide, "escalation.deny").await?;
    let judged = acting.case.may_decide(acting.by).and_then(|()| acting.case.clone().after(Act::Deny));
    let (acting, after) = acting.judged(judged).await?;
    let mut acting = acting.seen(if_match).await?;
    let decision = Decision { by: caller.actor.id, comment: Some(comment) };
    let row = decide::deny(&mut acting.tx, &acting.row, &after, decision).await.map_err(raced)?;
    acting.commit(once, row).await
}
