//! `GET /audit/checkpoints`: to be kept elsewhere.

use super::view::AuditCheckpointView;
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::audit::checkpoint;

/// Signed checkpoints, newest first. Whoever keeps one can prove later that the log up to it was not replaced; so everybody
/// signed in may have them.
#[utoipa::path(get, path = "/api/v1/audit/checkpoints", operation_id = "list_audit_checkpoints", tag = "audit", params(ListParams),
    responses((status = 200, body = PageView<AuditCheckpointView>)))]
pub(crate) async fn checkpoints(
    State(app): State<AppState>,
    caller: Caller,
    list: List<Empty>,
) -> Result<Response> {
    app.allow(&caller, Action::OverviewRead, &Resource::Installation).await?;
    let rows = checkpoint::before(&app.store, list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |checkpoint| checkpoint.position).map(AuditCheckpointView::from)))
}
