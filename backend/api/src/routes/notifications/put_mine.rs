//! `PUT /me/notifications`.

use super::body::PutNotifications;
use super::show_mine::view;
use super::view::MyNotificationsView;
use crate::app::AppState;
use crate::extract::{Caller, Json};
use crate::problem::Result;
use axum::extract::State;
use reeve_core::access::{Action, Resource};
use reeve_store::notification_settings as settings;

/// Sets what the caller gets mail about.
#[utoipa::path(put, path = "/api/v1/me/notifications", operation_id = "put_my_notifications", tag = "notifications",
    request_body = PutNotifications, responses((status = 200, body = MyNotificationsView)))]
pub(crate) async fn put(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<PutNotifications>,
) -> Result<axum::Json<MyNotificationsView>> {
    app.allow(&caller, Action::ProfileEdit, &Resource::Account(caller.actor.id)).await?;
    let wanted = body.parse()?;
    let mut tx = app.begin(&caller).await?;
    settings::set_of_user(&mut tx, caller.actor.id, &wanted).await?;
    tx.commit().await?;
    Ok(axum::Json(view(&app, &caller).await?))
}
