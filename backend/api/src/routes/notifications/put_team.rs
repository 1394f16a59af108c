//! `PUT /teams/{team}/notifications`.

use super::body::PutNotifications;
use super::show_team::view;
use super::view::TeamNotificationsView;
use crate::app::AppState;
use crate::extract::{Caller, Json};
use crate::problem::Result;
use axum::extract::{Path, State};
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_store::{notification_settings as settings, teams};

/// Sets what a team's members get mail about, unless they say otherwise.
#[utoipa::path(put, path = "/api/v1/teams/{team}/notifications", operation_id = "put_team_notifications",
    tag = "notifications", params(("team" = String, Path, description = "Id or slug")),
    request_body = PutNotifications, responses((status = 200, body = TeamNotificationsView)))]
pub(crate) async fn put(
    State(app): State<AppState>,
    caller: Caller,
    Path(team): Path<String>,
    Json(body): Json<PutNotifications>,
) -> Result<axum::Json<TeamNotificationsView>> {
    let team = TeamId(teams::find(&app.store, &team).await?.id);
    app.allow(&caller, Action::NotificationEdit, &Resource::Team(team)).await?;
    let wanted = body.parse()?;
    let mut tx = app.begin(&caller).await?;
    settings::set_of_team(&mut tx, team, &wanted).await?;
    tx.commit().await?;
    Ok(axum::Json(view(&app, team).await?))
}
