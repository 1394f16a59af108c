//! `PUT /teams/{team}/members/{user}/{role}`.

use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource, Role};
use reeve_core::id::TeamId;
use reeve_store::{memberships, teams, users};

/// Gives a role in a team; it counts for the teams below too.
#[utoipa::path(put, path = "/api/v1/teams/{team}/members/{user}/{role}", operation_id = "grant_role", tag = "teams",
    params(("team" = String, Path, description = "Id or slug"), ("user" = String, Path, description = "Id or username"),
        ("role" = String, Path, description = "`viewer`, `member`, `lead` or `approver`")),
    responses((status = 204)))]
pub(crate) async fn grant(
    State(app): State<AppState>,
    caller: Caller,
    Path((team, user, role)): Path<(String, String, String)>,
) -> Result<StatusCode> {
    let team = TeamId(teams::find(&app.store, &team).await?.id);
    app.allow(&caller, Action::MemberEdit, &Resource::Team(team)).await?;
    let role: Role = role.parse().map_err(|_| Problem::not_found().detail("no such role"))?;
    let user = users::find(&app.store, &user).await?;
    let mut tx = app.begin(&caller).await?;
    memberships::grant(&mut tx, team, user.id, role).await?;
    tx.commit().await?;
    app.callers.forget();
    Ok(StatusCode::NO_CONTENT)
}
