//! `GET /months`.

use super::view::{MonthItem, MonthView, cents};
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::money::months;

/// Months that are proposed or closed, newest first; all others are open.
#[utoipa::path(get, path = "/api/v1/months", operation_id = "list_months", tag = "money", params(ListParams),
    responses((status = 200, body = PageView<MonthItem>)))]
pub(crate) async fn months(
    State(app): State<AppState>,
    caller: Caller,
    list: List<Empty>,
) -> Result<Response> {
    app.allow(&caller, Action::StatementRead, &Resource::Installation).await?;
    let rows = months::list(&app.store, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |row| row.month.first_day());
    let item = |row: months::MonthRow| MonthItem {
        month: MonthView::of_row(&row),
        total: cents(row.total_cents).to_the_cent(),
    };
    Ok(list.reply(page.map(item)))
}
