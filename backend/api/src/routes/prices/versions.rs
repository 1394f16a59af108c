//! `GET /prices/versions`.

use super::view::{PriceBookView, view};
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::money::names::NameBook;
use reeve_store::money::prices;

/// Every price book there was, newest first.
#[utoipa::path(get, path = "/api/v1/prices/versions", operation_id = "list_price_versions", tag = "money", params(ListParams),
    responses((status = 200, body = PageView<PriceBookView>)))]
pub(crate) async fn versions(
    State(app): State<AppState>,
    caller: Caller,
    list: List<Empty>,
) -> Result<Response> {
    app.allow(&caller, Action::PriceRead, &Resource::Installation).await?;
    let rows = prices::versions(&app.store, list.after()?, list.fetch()).await?;
    let names = NameBook::read(&app.store).await?;
    Ok(list.reply(list.cut(rows, |found| found.version).map(|found| view(found, &names))))
}
