//! `GET /escalations/{id}`.

use super::load::load;
use super::view::EscalationView;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;

/// Shows one, with its steps and what the caller may do.
#[utoipa::path(get, path = "/api/v1/escalations/{id}", operation_id = "show_escalation", tag = "approvals",
    params(("id" = String, Path)),
    responses((status = 200, body = EscalationView), (status = 404, description = "no such escalation")))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response> {
    let loaded = load(&app, &caller, caller.actor.clone(), &id, Action::EscalationRead).await?;
    let view = loaded.view()?;
    Ok(versioned(view.version, &view))
}
