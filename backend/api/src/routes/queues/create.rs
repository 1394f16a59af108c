//! `POST /queues`.

use super::terms::{Changes, apply, defaults};
use super::view::{QueueView, view};
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_store::queues::QueueFigures;
use reeve_store::version::etag;
use reeve_store::{StoreError, queues, teams};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateQueue {
    /// Unique in the installation.
    slug: String,
    name: String,
    /// Slug or id.
    team: String,
    /// `fifo_with_backfill` (default) or `strict_fifo`.
    order: Option<String>,
    /// `open` (default) or `held`.
    state: Option<String>,
    /// Null or left out = every kind.
    allowed_kinds: Option<Vec<String>>,
    max_running_jobs: Option<i64>,
    max_running_jobs_per_user: Option<i64>,
    max_running_gpus: Option<i64>,
}

/// Makes a queue of a team.
#[utoipa::path(post, path = "/api/v1/queues", operation_id = "create_queue", tag = "queues", request_body = CreateQueue,
    responses((status = 201, body = QueueView), (status = 409, description = "the slug is taken"),
              (status = 422, description = "bad field")))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    keyed: Keyed<CreateQueue>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    let team = team(&app, &body.team).await?;
    app.allow(&caller, Action::QueueCreate, &Resource::Team(team)).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut fields = Fields::new();
    fields.slug("/slug", &body.slug);
    let changes = Changes {
        name: Some(body.name),
        order: body.order,
        state: body.state,
        allowed_kinds: Some(body.allowed_kinds),
        max_running_jobs: Some(body.max_running_jobs),
        max_running_jobs_per_user: Some(body.max_running_jobs_per_user),
        max_running_gpus: Some(body.max_running_gpus),
    };
    let terms = apply(defaults(""), changes, fields)?;
    let mut tx = app.begin(&caller).await?;
    let queue = queues::create(&mut tx, team, &body.slug, &terms).await?;
    let tag = etag(queue.version);
    let view = view(queue, &QueueFigures::default());
    once.commit_with(tx, StatusCode::CREATED, &view, &[("etag", tag)]).await
}

async fn team(app: &AppState, name: &str) -> Result<TeamId> {
    match teams::find(&app.store, name).await {
        Ok(team) => Ok(TeamId(team.id)),
        Err(StoreError::NotFound) => {
            let detail = "there is no such team (or it was deleted): give a team's slug or id";
            Err(Problem::new(Code::InvalidBody).detail(detail).error("/team", "unknown_team", detail))
        }
        Err(other) => Err(other.into()),
    }
}
