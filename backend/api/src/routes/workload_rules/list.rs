//! `GET /workload-rules`.

use super::view::WorkloadRuleView;
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::workload_rules;

/// Lists workload rules, by slug.
#[utoipa::path(get, path = "/api/v1/workload-rules", operation_id = "list_workload_rules", tag = "identity",
    params(ListParams), responses((status = 200, body = PageView<WorkloadRuleView>)))]
pub(crate) async fn list(State(app): State<AppState>, caller: Caller, list: List<Empty>) -> Result<Response> {
    app.allow(&caller, Action::WorkloadRuleRead, &Resource::Installation).await?;
    let rows = workload_rules::list(&app.store, list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |rule| rule.slug.clone()).map(WorkloadRuleView::from)))
}
