//! `GET /audit/{position}`: a permalink.

use super::view::AuditEventView;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use axum::Json;
use axum::extract::{Path, State};
use reeve_core::access::{Action, Readable, Resource};
use reeve_store::audit::list;

/// The event at a position. One of a team that the caller does not oversee is not found.
#[utoipa::path(get, path = "/api/v1/audit/{position}", operation_id = "show_audit_event", tag = "audit",
    params(("position" = i64, Path, minimum = 1)), responses((status = 200, body = AuditEventView)))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(position): Path<String>,
) -> Result<Json<AuditEventView>> {
    app.allow(&caller, Action::AuditRead, &Resource::Installation).await?;
    let position: i64 = position.parse().map_err(|_| Problem::not_found())?;
    let found = list::at(&app.store, position).await?;
    let seen = match caller.actor.overseen() {
        Readable::Everything => true,
        Readable::Teams(teams) => found.sealed.event.team_id.is_some_and(|team| teams.contains(&team)),
    };
    if seen { Ok(Json(found.into())) } else { Err(Problem::not_found()) }
}
