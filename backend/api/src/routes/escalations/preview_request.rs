//! `POST /escalations/preview`.

use super::asked::asked;
use super::body::RequestEscalation;
use super::preview_view::{Effect, EscalationPreview, preview, route_view};
use super::route::{Cost, routed};
use crate::app::AppState;
use crate::extract::{Caller, Json};
use crate::problem::Result;
use axum::extract::State;
use reeve_store::policy;

/// What a request would do if it were made and approved now: which way it would go, what would start, who would be
/// evicted, what it would cost. Writes nothing.
#[utoipa::path(post, path = "/api/v1/escalations/preview", operation_id = "preview_escalation_request", tag = "approvals",
    request_body = RequestEscalation,
    responses((status = 200, body = EscalationPreview), (status = 403, description = "not your team"),
              (status = 404, description = "no such job, or none that the caller may see"),
              (status = 422, description = "a field is wrong, or it asks for nothing new"),
              (status = 429, description = "others are asking; repeat")))]
pub(crate) async fn preview_request(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<RequestEscalation>,
) -> Result<axum::Json<EscalationPreview>> {
    let in_force = policy::in_force(&app.store).await?;
    let asked = asked(&app, &caller, body, &in_force.document).await?;
    let cost = Cost::of(&app, &asked).await?;
    let new = routed(&app, &caller.actor, &asked, &in_force, &cost, None).await?;
    let route = route_view(&app, &new).await?;
    Ok(axum::Json(preview(&app, &caller, Some(Effect::of(&new)), cost.view(), Some(route)).await?))
}
