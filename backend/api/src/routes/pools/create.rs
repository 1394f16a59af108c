//! `POST /pools`.

use super::view::{PoolView, view};
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Fields, Result};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::pools::{self, PoolFigures};
use reeve_store::version;
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreatePool {
    #[schema(example = "h100-80g")]
    slug: String,
    name: String,
    /// The GPU model that its nodes have; any when left out.
    gpu_model: Option<String>,
}

/// Makes an empty pool.
#[utoipa::path(post, path = "/api/v1/pools", operation_id = "create_pool", tag = "pools",
    request_body = CreatePool, responses((status = 201, body = PoolView)))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    Keyed { body, once }: Keyed<CreatePool>,
) -> Result<Response> {
    app.allow(&caller, Action::PoolCreate, &Resource::Installation).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut fields = Fields::new();
    fields.slug("/slug", &body.slug);
    fields.text("/name", &body.name, 1, 100);
    fields.text("/gpu_model", body.gpu_model.as_deref().unwrap_or("-"), 1, 100);
    fields.done()?;
    let mut tx = app.begin(&caller).await?;
    let pool = pools::create(&mut tx, &body.slug, &body.name, body.gpu_model.as_deref()).await?;
    let tag = [("etag", version::etag(pool.version))];
    let reply = once.commit_with(tx, StatusCode::CREATED, &view(pool, &PoolFigures::default()), &tag).await;
    app.installation.forget_pools();
    reply
}
