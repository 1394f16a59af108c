//! `GET /operations/{id}`.

use super::load::load;
use super::view::OperationView;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::Json;
use axum::extract::{Path, State};
use reeve_core::access::Action;

/// How far it is, and where its result lies.
#[utoipa::path(get, path = "/api/v1/operations/{id}", operation_id = "show_operation", tag = "operations", params(("id" = String, Path)),
    responses((status = 200, body = OperationView)))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<OperationView>> {
    Ok(Json(load(&app, &caller, &id, Action::OperationRead).await?.into()))
}
