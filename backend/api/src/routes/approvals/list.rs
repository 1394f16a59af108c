//! `GET /approvals`.

use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use crate::routes::escalations::view::EscalationView;
use crate::routes::escalations::views;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::escalations::list as stored;
use reeve_store::page::Page;
use serde::Serialize;
use utoipa::ToSchema;

/// Something that waits for the caller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalView {
    /// `decision`, or `review` of an emergency.
    waits_for: &'static str,
    escalation: EscalationView,
}

/// What waits for the caller's decision or review, oldest first.
#[utoipa::path(get, path = "/api/v1/approvals", operation_id = "list_approvals", tag = "approvals",
    params(ListParams), responses((status = 200, body = PageView<ApprovalView>)))]
pub(crate) async fn list(State(app): State<AppState>, caller: Caller, list: List<Empty>) -> Result<Response> {
    app.allow(&caller, Action::EscalationRead, &Resource::Installation).await?;
    let rows = stored::waiting_for(&app.store, &caller.actor, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |row| row.id);
    let items = views(&app, &caller, page.items).await?.into_iter().map(|escalation| ApprovalView {
        waits_for: if escalation.state == "in_review" { "decision" } else { "review" },
        escalation,
    });
    Ok(list.reply(Page { items: items.collect(), next_cursor: page.next_cursor }))
}
