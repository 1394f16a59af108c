//! `PATCH /queues/{queue}`.

use super::terms::{Changes, apply};
use super::view::{QueueView, views};
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json, clearable, not_null};
use crate::problem::{Fields, Result};
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_store::queues::{self, terms_of};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditQueue {
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    name: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    order: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    state: Option<String>,
    /// Null = every kind.
    #[serde(default, deserialize_with = "clearable")]
    #[schema(value_type = Option<Vec<String>>)]
    allowed_kinds: Option<Option<Vec<String>>>,
    /// Null = no limit, here and below.
    #[serde(default, deserialize_with = "clearable")]
    #[schema(value_type = Option<i64>)]
    max_running_jobs: Option<Option<i64>>,
    #[serde(default, deserialize_with = "clearable")]
    #[schema(value_type = Option<i64>)]
    max_running_jobs_per_user: Option<Option<i64>>,
    #[serde(default, deserialize_with = "clearable")]
    #[schema(value_type = Option<i64>)]
    max_running_gpus: Option<Option<i64>>,
}

/// Changes what is given; the rest stays.
#[utoipa::path(patch, path = "/api/v1/queues/{queue}", operation_id = "edit_queue", tag = "queues", params(("queue" = String, Path)),
    request_body = EditQueue,
    responses((status = 200, body = QueueView), (status = 412, description = "changed since it was read"),
              (status = 422, description = "bad field")))]
pub(crate) async fn edit(
    State(app): State<AppState>,
    caller: Caller,
    Path(queue): Path<String>,
    if_match: IfMatch,
    Json(body): Json<EditQueue>,
) -> Result<Response> {
    let before = queues::find(&app.store, &queue).await?;
    app.allow(&caller, Action::QueueEdit, &Resource::Team(TeamId(before.team_id))).await?;
    if_match.check(before.version)?;
    let changes = Changes {
        name: body.name,
        order: body.order,
        state: body.state,
        allowed_kinds: body.allowed_kinds,
        max_running_jobs: body.max_running_jobs,
        max_running_jobs_per_user: body.max_running_jobs_per_user,
        max_running_gpus: body.max_running_gpus,
    };
    let terms = apply(terms_of(&before)?, changes, Fields::new())?;
    let mut tx = app.begin(&caller).await?;
    let after = queues::update(&mut tx, &before, &terms).await?;
    tx.commit().await?;
    let version = after.version;
    Ok(versioned(version, &views(&app.store, vec![after]).await?.remove(0)))
}
