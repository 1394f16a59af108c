//! `GET /teams/{team}/notifications`.

use super::view::{TeamNotificationsView, topics};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::Json;
use axum::extract::{Path, State};
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_store::{notification_settings as settings, teams};

/// Shows what a team's members get mail about, unless they say otherwise.
#[utoipa::path(get, path = "/api/v1/teams/{team}/notifications", operation_id = "show_team_notifications",
    tag = "notifications", params(("team" = String, Path, description = "Id or slug")),
    responses((status = 200, body = TeamNotificationsView)))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(team): Path<String>,
) -> Result<Json<TeamNotificationsView>> {
    let team = TeamId(teams::find(&app.store, &team).await?.id);
    app.allow(&caller, Action::MemberRead, &Resource::Team(team)).await?;
    Ok(Json(view(&app, team).await?))
}

pub(super) async fn view(app: &AppState, team: TeamId) -> Result<TeamNotificationsView> {
    let set = settings::of_teams(&app.store, &[team.0]).await?;
    Ok(TeamNotificationsView { topics: topics(&[("team", &set)]) })
}
