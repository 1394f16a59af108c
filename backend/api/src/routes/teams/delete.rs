//! `DELETE /teams/{team}`.

use crate::app::AppState;
use crate::extract::{Caller, IfMatch};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_store::teams;

/// Deletes a team without live jobs and without teams below.
#[utoipa::path(delete, path = "/api/v1/teams/{team}", operation_id = "delete_team", tag = "teams",
    params(("team" = String, Path, description = "Id or slug")), responses((status = 204)))]
pub(crate) async fn delete(
    State(app): State<AppState>,
    caller: Caller,
    Path(team): Path<String>,
    if_match: IfMatch,
) -> Result<StatusCode> {
    let id = TeamId(teams::find(&app.store, &team).await?.id);
    app.allow(&caller, Action::TeamDelete, &Resource::Team(id)).await?;
    let mut tx = app.begin(&caller).await?;
    let team = teams::lock(&mut tx, id).await?;
    if_match.check(team.version)?;
    let (jobs, children) = teams::holds(&mut tx, id).await?;
    if jobs > 0 {
        return Err(Problem::new(Code::TeamHasJobs).detail(format!("{jobs} live jobs")).param("jobs", jobs));
    }
    if children > 0 {
        return Err(Problem::new(Code::TeamHasChildren).param("teams", children));
    }
    teams::delete(&mut tx, &team).await?;
    tx.commit().await?;
    app.callers.forget();
    Ok(StatusCode::NO_CONTENT)
}
