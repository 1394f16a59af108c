//! `PATCH /teams/{team}`.

use super::create::find_parent;
use super::view::TeamView;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json, clearable, not_null};
use crate::problem::{Code, Fields, Problem, Result};
use crate::routes::quotas::put::above;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::IntoResponse;
use reeve_core::access::{Action, Resource};
use reeve_core::id::{PoolId, TeamId};
use reeve_core::quota::check_guarantee;
use reeve_store::quotas::{self, Quota};
use reeve_store::{Store, WriteTx, teams, version};
use serde::Deserialize;
use utoipa::ToSchema;

/// More pools than an installation has.
const MOST_POOLS: i64 = 10_000;

/// What is left out stays; null clears.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditTeam {
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    name: Option<String>,
    /// Id or slug of the new team above; null = to the top. Moving needs an administrator.
    #[serde(default, deserialize_with = "clearable")]
    #[schema(value_type = Option<String>)]
    parent: Option<Option<String>>,
}

/// Renames or moves a team.
#[utoipa::path(patch, path = "/api/v1/teams/{team}", operation_id = "edit_team", tag = "teams",
    params(("team" = String, Path, description = "Id or slug")),
    request_body = EditTeam, responses((status = 200, body = TeamView)))]
pub(crate) async fn edit(
    State(app): State<AppState>,
    caller: Caller,
    Path(team): Path<String>,
    if_match: IfMatch,
    Json(body): Json<EditTeam>,
) -> Result<impl IntoResponse> {
    let id = TeamId(teams::find(&app.store, &team).await?.id);
    app.allow(&caller, Action::TeamEdit, &Resource::Team(id)).await?;
    let mut fields = Fields::new();
    fields.text("/name", body.name.as_deref().unwrap_or("-"), 1, 100);
    fields.done()?;
    let (parent, carried) = match &body.parent {
        Some(parent) => {
            app.allow(&caller, Action::TeamCreate, &Resource::Installation).await?;
            (Some(new_parent(&app.store, parent.as_deref()).await?), carried(&app.store, id).await?)
        }
        None => (None, Vec::new()),
    };
    let mut tx = app.begin(&caller).await?;
    let before = teams::lock(&mut tx, id).await?;
    if_match.check(before.version)?;
    if let Some(Some(parent)) = parent
        && teams::is_below(&mut tx, parent, id).await?
    {
        return Err(Problem::new(Code::ParentCycle).error(
            "/parent",
            "parent_cycle",
            "it is below this team",
        ));
    }
    let name = body.name.as_deref().unwrap_or(&before.name);
    let after = teams::save(&mut tx, &before, name, parent.unwrap_or(before.parent_id.map(TeamId))).await?;
    still_fit(&mut tx, id, carried).await?;
    tx.commit().await?;
    app.callers.forget();
    let tag = [(header::ETAG, version::etag(after.version))];
    Ok((tag, axum::Json(TeamView::new(after, &caller))))
}

async fn new_parent(store: &Store, parent: Option<&str>) -> Result<Option<TeamId>> {
    match parent {
        Some(parent) => Ok(Some(find_parent(store, parent).await?)),
        None => Ok(None),
    }
}

/// What a team is guaranteed goes with it when it moves.
async fn carried(store: &Store, team: TeamId) -> Result<Vec<Quota>> {
    let filter = quotas::Filter { team: Some(team), ..quotas::Filter::default() };
    Ok(quotas::list(store, &filter, None, MOST_POOLS).await?)
}

/// Below the new parent the same rules hold as for a new quota.
async fn still_fit(tx: &mut WriteTx, team: TeamId, carried: Vec<Quota>) -> Result<()> {
    for quota in carried {
        let standing = quotas::standing(tx, team, PoolId(quota.pool_id)).await?;
        check_guarantee(quota.guaranteed_gpus.into(), &standing).map_err(above)?;
    }
    Ok(())
}
