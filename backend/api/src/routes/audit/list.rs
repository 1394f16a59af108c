//! `GET /audit`.

use super::filter::AuditParams;
use super::view::AuditEventView;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_store::audit::list;

/// Events of the log, newest first. Leads see those of their teams; administrators, finance and auditors all.
#[utoipa::path(get, path = "/api/v1/audit", operation_id = "list_audit", tag = "audit", params(AuditParams, ListParams),
    responses((status = 200, body = PageView<AuditEventView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<AuditParams>,
) -> Result<Response> {
    let filter = list.filter.allowed(&app, &caller).await?;
    let rows = list::before(&app.store, list.after()?, &filter, list.fetch()).await?;
    let page = list.cut(rows, |event| event.sealed.position);
    Ok(list.reply(page.map(AuditEventView::from)))
}
