//! `POST /escalations/{id}/withdraw`.

use super::act::Acting;
use super::body::MayComment;
use super::view::EscalationView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::approval::Act;
use reeve_store::escalations::end;

/// Takes a request back, before it is active. Only whoever asked may.
#[utoipa::path(post, path = "/api/v1/escalations/{id}/withdraw", operation_id = "withdraw_escalation", tag = "approvals",
    params(("id" = String, Path)), request_body = Option<MayComment>,
    responses((status = 200, body = EscalationView), (status = 403, description = "somebody else's"),
              (status = 404, description = "no such escalation"), (status = 409, description = "too late")))]
pub(crate) async fn withdraw(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    keyed: Keyed<MayComment>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let comment = body.checked()?;
    let acting = Acting::begin(&app, &caller, &id, Action::EscalationWithdraw, "escalation.withdraw").await?;
    let judged = acting.case.may_withdraw(acting.by).and_then(|()| acting.case.clone().after(Act::Withdraw));
    let (mut acting, after) = acting.judged(judged).await?;
    let by = Some(caller.actor.id);
    let row = end::out_of_force(&mut acting.tx, &acting.row, &after, by, comment).await?;
    acting.commit(once, row).await
}
