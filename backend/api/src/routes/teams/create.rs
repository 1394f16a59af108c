//! `POST /teams`.

use super::view::TeamView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_store::{Store, StoreError, teams, version};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateTeam {
    #[schema(example = "vision")]
    slug: String,
    name: String,
    /// Id or slug of the team above; a root when left out.
    parent: Option<String>,
}

/// Makes a team.
#[utoipa::path(post, path = "/api/v1/teams", operation_id = "create_team", tag = "teams",
    request_body = CreateTeam, responses((status = 201, body = TeamView)))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    Keyed { body, once }: Keyed<CreateTeam>,
) -> Result<Response> {
    app.allow(&caller, Action::TeamCreate, &Resource::Installation).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut fields = Fields::new();
    fields.slug("/slug", &body.slug);
    fields.text("/name", &body.name, 1, 100);
    fields.done()?;
    let parent = match &body.parent {
        Some(parent) => Some(find_parent(&app.store, parent).await?),
        None => None,
    };
    let mut tx = app.begin(&caller).await?;
    if let Some(parent) = parent {
        // Held so that it is not deleted meanwhile.
        teams::lock(&mut tx, parent).await?;
    }
    let team = teams::create(&mut tx, &body.slug, &body.name, parent).await?;
    let tag = [("etag", version::etag(team.version))];
    let reply = once.commit_with(tx, StatusCode::CREATED, &TeamView::new(team, &caller), &tag).await?;
    app.callers.forget();
    Ok(reply)
}

pub(crate) async fn find_parent(store: &Store, parent: &str) -> Result<TeamId> {
    match teams::find(store, parent).await {
        Ok(team) => Ok(TeamId(team.id)),
        Err(StoreError::NotFound) => {
            Err(Problem::new(Code::UnknownReference).error("/parent", "unknown_team", "no such team"))
        }
        Err(other) => Err(other.into()),
    }
}
