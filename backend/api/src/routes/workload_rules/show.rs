//! `GET /workload-rules/{rule}`.

use super::view::WorkloadRuleView;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::workload_rules;

/// Shows a workload rule.
#[utoipa::path(get, path = "/api/v1/workload-rules/{rule}", operation_id = "show_workload_rule", tag = "identity",
    params(("rule" = String, Path, description = "Id or slug")),
    responses((status = 200, body = WorkloadRuleView)))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(rule): Path<String>,
) -> Result<Response> {
    app.allow(&caller, Action::WorkloadRuleRead, &Resource::Installation).await?;
    let row = workload_rules::find(&app.store, &rule).await?;
    Ok(versioned(row.version, &WorkloadRuleView::from(row)))
}
