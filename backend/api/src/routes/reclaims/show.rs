//! `GET /reclaims/{id}`.

use super::view::{ReclaimView, views};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use axum::Json;
use axum::extract::{Path, State};
use reeve_core::access::{Action, Resource};
use reeve_store::reclaims;

/// One reclaim: who asked, who left, where it stands.
#[utoipa::path(get, path = "/api/v1/reclaims/{id}", operation_id = "show_reclaim", tag = "reclaims", params(("id" = String, Path)),
    responses((status = 200, body = ReclaimView), (status = 404, description = "no such reclaim")))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ReclaimView>> {
    app.allow(&caller, Action::ReclaimRead, &Resource::Installation).await?;
    let id = id.parse().map_err(|_| Problem::not_found())?;
    let reclaim = reclaims::get(&app.store, id).await?;
    Ok(Json(views(&app.store, vec![reclaim]).await?.remove(0)))
}
