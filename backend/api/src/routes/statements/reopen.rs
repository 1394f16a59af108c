//! `POST /statements/{month}/reopen`: takes a proposal back. A closed month stays closed.

use super::month_path::{closed, month};
use super::view::MonthView;
use crate::app::AppState;
use crate::extract::{Caller, Empty, Keyed};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::money::{bills, months};

/// Takes back the proposal to close a month.
#[utoipa::path(post, path = "/api/v1/statements/{month}/reopen", operation_id = "reopen_month", tag = "money",
    params(("month" = String, Path, example = "2026-11")), request_body = Empty, responses((status = 200, body = MonthView)))]
pub(crate) async fn reopen(
    State(app): State<AppState>,
    caller: Caller,
    Path(text): Path<String>,
    keyed: Keyed<Empty>,
) -> Result<Response> {
    let once = keyed.once;
    let month = month(&text)?;
    app.allow(&caller, Action::StatementClose, &Resource::Installation).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut tx = app.begin(&caller).await?;
    match months::lock(&mut tx, month).await? {
        Some(row) if row.is_closed() => return Err(closed(month)),
        Some(_) => months::withdraw(&mut tx, month).await?,
        None => {
            return Err(Problem::new(Code::MonthOpen).detail(format!("nobody has proposed to close {month}")));
        }
    }
    let mut bill = bills::month(&app.store, month, Some(&[])).await?;
    bill.closing = None;
    once.commit(tx, StatusCode::OK, &MonthView::of(&bill)).await
}
