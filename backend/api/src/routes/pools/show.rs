//! `GET /pools/{pool}`.

use super::view::{PoolView, one};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::IntoResponse;
use reeve_core::access::{Action, Resource};
use reeve_store::{pools, version};

/// Shows a pool, by id or slug.
#[utoipa::path(get, path = "/api/v1/pools/{pool}", operation_id = "show_pool", tag = "pools",
    params(("pool" = String, Path, description = "Id or slug")), responses((status = 200, body = PoolView)))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(pool): Path<String>,
) -> Result<impl IntoResponse> {
    app.allow(&caller, Action::PoolRead, &Resource::Installation).await?;
    let pool = pools::find(&app.store, &pool).await?;
    let tag = [(header::ETAG, version::etag(pool.version))];
    Ok((tag, Json(one(&app.store, pool).await?)))
}
