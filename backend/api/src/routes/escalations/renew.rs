//! `POST /escalations/{id}/renew`.

use super::act::Acting;
use super::asked::Asked;
use super::body::{LEAST_SECS, prose};
use super::people::afresh;
use super::request::keep;
use super::route::{Cost, routed};
use super::view::EscalationView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Fields, Result};
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::approval::{Refusal, Terms};
use reeve_core::id::{EscalationId, JobId, PoolId, QueueId};
use reeve_store::escalations::row::EscalationRow;
use reeve_store::{StoreError, policy, teams};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Renew {
    /// How long beyond its present end.
    #[schema(minimum = 60)]
    duration_secs: i64,
    #[schema(min_length = 1, max_length = 2000)]
    reason: String,
}

/// Asks for an active one to go on beyond its end, with what was granted. It is a request like any other: the policy
/// gives its steps, and it begins when the present one ends.
#[utoipa::path(post, path = "/api/v1/escalations/{id}/renew", operation_id = "renew_escalation", tag = "approvals",
    params(("id" = String, Path)), request_body = Renew,
    responses((status = 201, body = EscalationView), (status = 403, description = "not your team"),
              (status = 404, description = "no such escalation"),
              (status = 409, description = "not active, for good, or a request for the same thing is open")))]
pub(crate) async fn renew(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    keyed: Keyed<Renew>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let in_force = policy::in_force(&app.store).await?;
    let mut fields = Fields::new();
    let longest = in_force.document.approvals.longest_secs.max(LEAST_SECS);
    fields.range("/duration_secs", body.duration_secs, LEAST_SECS, longest);
    prose(&mut fields, "/reason", &body.reason, 1);
    fields.done()?;
    let acting = Acting::begin(&app, &caller, &id, Action::EscalationRead, "escalation.renew").await?;
    let lasts = acting.row.expires_at.is_some();
    let judged = acting.case.may_renew(acting.by);
    let judged = judged.and(if lasts { Ok(()) } else { Err(Refusal::State(acting.case.state)) });
    let (acting, ()) = acting.judged(judged).await?;
    let row = acting.row;
    acting.tx.rollback().await?;
    let mut asked = again(&row, body)?;
    asked.chain = teams::chain(&app.store, asked.team).await?;
    let actor = afresh(&app, &caller).await?;
    let cost = Cost::of(&app, &asked).await?;
    let new = routed(&app, &actor, &asked, &in_force, &cost, Some(EscalationId(row.id))).await?;
    keep(&app, &caller, actor, once, &new).await
}

/// The same for longer.
fn again(row: &EscalationRow, body: Renew) -> Result<Asked, StoreError> {
    let raise = row.raise()?;
    Ok(Asked {
        asks_for: row.asks_for()?,
        team: row.team(),
        chain: Vec::new(),
        job: row.job_id.map(JobId),
        queue: row.queue_id.map(QueueId),
        kinds: raise.as_ref().and_then(|raise| raise.kinds.clone()),
        pool: row.pool_id.map(PoolId),
        budget: row.budget_id,
        scope: raise.map(|raise| raise.scope),
        terms: Terms { duration_secs: Some(body.duration_secs), ..row.granted()? },
        reason: body.reason,
        starts_at: row.expires_at,
        break_glass: false,
    })
}
