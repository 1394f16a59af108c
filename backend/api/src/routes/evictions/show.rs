//! `GET /evictions/{id}`.

use super::view::{EvictionView, views};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use axum::Json;
use axum::extract::{Path, State};
use reeve_core::access::{Action, Resource};
use reeve_store::evictions;

/// One eviction: who asked, under which rule, why this job and not another, shares before and after.
#[utoipa::path(get, path = "/api/v1/evictions/{id}", operation_id = "show_eviction", tag = "reclaims", params(("id" = String, Path)),
    responses((status = 200, body = EvictionView), (status = 404, description = "no such eviction")))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<EvictionView>> {
    app.allow(&caller, Action::ReclaimRead, &Resource::Installation).await?;
    let id = id.parse().map_err(|_| Problem::not_found())?;
    let eviction = evictions::get(&app.store, id).await?;
    Ok(Json(views(&app.store, vec![eviction]).await?.remove(0)))
}
