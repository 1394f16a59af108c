//! `PATCH /pools/{pool}`.

use super::view::{PoolView, one};
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json, clearable, not_null};
use crate::problem::{Fields, Result};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::IntoResponse;
use reeve_core::access::{Action, Resource};
use reeve_core::id::PoolId;
use reeve_store::{pools, version};
use serde::Deserialize;
use utoipa::ToSchema;

/// What is left out stays; null clears.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditPool {
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    name: Option<String>,
    /// Null = any model.
    #[serde(default, deserialize_with = "clearable")]
    #[schema(value_type = Option<String>)]
    gpu_model: Option<Option<String>>,
}

/// Renames a pool or changes its GPU model.
#[utoipa::path(patch, path = "/api/v1/pools/{pool}", operation_id = "edit_pool", tag = "pools",
    params(("pool" = String, Path, description = "Id or slug")),
    request_body = EditPool, responses((status = 200, body = PoolView)))]
pub(crate) async fn edit(
    State(app): State<AppState>,
    caller: Caller,
    Path(pool): Path<String>,
    if_match: IfMatch,
    Json(body): Json<EditPool>,
) -> Result<impl IntoResponse> {
    app.allow(&caller, Action::PoolEdit, &Resource::Installation).await?;
    let mut fields = Fields::new();
    fields.text("/name", body.name.as_deref().unwrap_or("-"), 1, 100);
    let model = body.gpu_model.as_ref().and_then(Option::as_deref);
    fields.text("/gpu_model", model.unwrap_or("-"), 1, 100);
    fields.done()?;
    let id = PoolId(pools::find(&app.store, &pool).await?.id);
    let mut tx = app.begin(&caller).await?;
    let before = pools::lock(&mut tx, id).await?;
    if_match.check(before.version)?;
    let name = body.name.as_deref().unwrap_or(&before.name);
    let model = body.gpu_model.clone().unwrap_or_else(|| before.gpu_model.clone());
    let after = pools::save(&mut tx, &before, name, model.as_deref()).await?;
    tx.commit().await?;
    let tag = [(header::ETAG, version::etag(after.version))];
    Ok((tag, axum::Json(one(&app.store, after).await?)))
}
