//! `GET /me/notifications`.

use super::view::{MyNotificationsView, topics};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::Json;
use axum::extract::State;
use reeve_core::access::{Action, Resource};
use reeve_store::{memberships, notification_settings as settings, users};

/// Shows what the caller gets mail about.
#[utoipa::path(get, path = "/api/v1/me/notifications", operation_id = "show_my_notifications", tag = "notifications",
    responses((status = 200, body = MyNotificationsView)))]
pub(crate) async fn show(State(app): State<AppState>, caller: Caller) -> Result<Json<MyNotificationsView>> {
    app.allow(&caller, Action::ProfileRead, &Resource::Account(caller.actor.id)).await?;
    Ok(Json(view(&app, &caller).await?))
}

pub(super) async fn view(app: &AppState, caller: &Caller) -> Result<MyNotificationsView> {
    let user = users::find(&app.store, &caller.actor.id.to_string()).await?;
    let teams: Vec<_> =
        memberships::spread(&app.store, caller.actor.id).await?.into_keys().map(|team| team.0).collect();
    let own = settings::of_user(&app.store, caller.actor.id).await?;
    let of_teams = settings::of_teams(&app.store, &teams).await?;
    Ok(MyNotificationsView {
        email: user.email,
        mail_configured: app.settings.mail,
        topics: topics(&[("own", &own), ("team", &of_teams)]),
    })
}
