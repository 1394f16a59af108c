//! `DELETE /workload-rules/{rule}`.

use crate::app::AppState;
use crate::extract::{Caller, IfMatch};
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_store::workload_rules;

/// Deletes a workload rule and ends what came in by it; its service account stays, disabled, because jobs are its.
#[utoipa::path(delete, path = "/api/v1/workload-rules/{rule}", operation_id = "delete_workload_rule", tag = "identity",
    params(("rule" = String, Path, description = "Id or slug")), responses((status = 204)))]
pub(crate) async fn delete(
    State(app): State<AppState>,
    caller: Caller,
    Path(rule): Path<String>,
    if_match: IfMatch,
) -> Result<StatusCode> {
    app.allow(&caller, Action::WorkloadRuleEdit, &Resource::Installation).await?;
    let known = workload_rules::find(&app.store, &rule).await?;
    let mut tx = app.begin(&caller).await?;
    let row = workload_rules::lock(&mut tx, known.id).await?;
    if_match.check(row.version)?;
    workload_rules::delete(&mut tx, &row).await?;
    tx.commit().await?;
    app.callers.forget();
    Ok(StatusCode::NO_CONTENT)
}
