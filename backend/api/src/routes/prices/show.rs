//! `GET /prices`.

use super::view::{PriceBookView, view};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use crate::reply::versioned;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::money::names::NameBook;
use reeve_store::money::prices;

/// The price book in force.
#[utoipa::path(get, path = "/api/v1/prices", operation_id = "show_prices", tag = "money",
    responses((status = 200, body = PriceBookView)))]
pub(crate) async fn show(State(app): State<AppState>, caller: Caller) -> Result<Response> {
    app.allow(&caller, Action::PriceRead, &Resource::Installation).await?;
    let found = prices::in_force(&app.store).await?;
    let names = NameBook::read(&app.store).await?;
    Ok(versioned(found.version, &view(found, &names)))
}
