//! `GET /escalations/{id}/preview`.

use super::asked::Asked;
use super::load::load;
use super::preview_view::{Effect, EscalationPreview, preview as look};
use super::route::Cost;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::extract::{Path, State};
use reeve_core::access::Action;
use reeve_core::approval::EscalationState;
use reeve_core::id::{JobId, PoolId, QueueId};

/// What it would do if what is granted of it so far were active now, on the live state: look again, and it may differ.
#[utoipa::path(get, path = "/api/v1/escalations/{id}/preview", operation_id = "preview_escalation", tag = "approvals",
    params(("id" = String, Path)),
    responses((status = 200, body = EscalationPreview), (status = 404, description = "no such escalation"),
              (status = 429, description = "others are asking; repeat")))]
pub(crate) async fn preview(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<axum::Json<EscalationPreview>> {
    let row = load(&app, &caller, caller.actor.clone(), &id, Action::EscalationRead).await?.row;
    let (raise, terms) = (row.raise()?, row.granted()?);
    let open = matches!(row.state()?, EscalationState::InReview | EscalationState::Approved);
    let asked = Asked {
        asks_for: row.asks_for()?,
        team: row.team(),
        chain: Vec::new(),
        job: row.job_id.map(JobId),
        queue: row.queue_id.map(QueueId),
        kinds: raise.as_ref().and_then(|raise| raise.kinds.clone()),
        pool: row.pool_id.map(PoolId),
        budget: row.budget_id,
        scope: raise.as_ref().map(|raise| raise.scope),
        terms,
        reason: String::new(),
        starts_at: row.starts_at,
        break_glass: row.break_glass,
    };
    let cost = Cost::of(&app, &asked).await?.view();
    let effect = Effect {
        asks_for: asked.asks_for,
        team: asked.team,
        job: asked.job,
        pool: asked.pool,
        budget: asked.budget,
        raise,
        terms,
    };
    Ok(axum::Json(look(&app, &caller, open.then_some(effect), cost, None).await?))
}
