//! `GET /audit/status`: how far the log is sealed, signed and verified.

use super::view::AuditCheckpointView;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use reeve_core::access::{Action, Resource};
use reeve_store::audit::status;
use serde::Serialize;
use utoipa::ToSchema;

/// The log at this moment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditStatusView {
    /// The last sealed event.
    last_position: i64,
    /// The chain was verified up to here before it was signed.
    verified_position: i64,
    /// When the last look was; null = the server signs nothing.
    verified_at: Option<DateTime<Utc>>,
    checkpoint: Option<AuditCheckpointView>,
    /// What the last look found wrong, with its position; null = nothing.
    broken: Option<String>,
    /// The service's own role in PostgreSQL has no right to change or remove events.
    append_only_by_rights: bool,
}

/// How far the log is sealed, signed and verified.
#[utoipa::path(get, path = "/api/v1/audit/status", operation_id = "show_audit_status", tag = "audit",
    responses((status = 200, body = AuditStatusView)))]
pub(crate) async fn status(State(app): State<AppState>, caller: Caller) -> Result<Json<AuditStatusView>> {
    app.allow(&caller, Action::AuditRead, &Resource::Installation).await?;
    let found = status::read(&app.store).await?;
    Ok(Json(AuditStatusView {
        last_position: found.last_position,
        verified_position: found.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.position),
        verified_at: found.looked_at,
        checkpoint: found.checkpoint.map(AuditCheckpointView::from),
        broken: found.broken,
        append_only_by_rights: found.append_only_by_rights,
    }))
}
