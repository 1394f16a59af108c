//! `POST /escalations/{id}/revoke`.

use super::act::Acting;
use super::body::MustComment;
use super::view::EscalationView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::approval::Act;
use reeve_store::escalations::end;

/// Ends an approved or active one before its time, and says why: by whoever asked for it, leads of the team, those who
/// have a seat at any of its steps, and administrators. Jobs fall back without restarting; a quota is put back.
#[utoipa::path(post, path = "/api/v1/escalations/{id}/revoke", operation_id = "revoke_escalation", tag = "approvals",
    params(("id" = String, Path)), request_body = MustComment,
    responses((status = 200, body = EscalationView), (status = 403, description = "not yours to revoke"),
              (status = 404, description = "no such escalation"), (status = 409, description = "neither approved nor active")))]
pub(crate) async fn revoke(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    keyed: Keyed<MustComment>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let comment = body.checked()?;
    let acting = Acting::begin(&app, &caller, &id, Action::EscalationRevoke, "escalation.revoke").await?;
    let judged = acting.case.may_revoke(acting.by).and_then(|()| acting.case.clone().after(Act::Revoke));
    let (mut acting, after) = acting.judged(judged).await?;
    let by = Some(caller.actor.id);
    let row = end::out_of_force(&mut acting.tx, &acting.row, &after, by, Some(comment)).await?;
    acting.commit(once, row).await
}
