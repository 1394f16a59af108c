//! `GET /me`.

use super::view::MeView;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::Json;
use axum::extract::State;
use reeve_core::access::{Action, Resource};

/// Shows the caller.
#[utoipa::path(get, path = "/api/v1/me", operation_id = "show_me", tag = "me", responses((status = 200, body = MeView)))]
pub(crate) async fn show(State(app): State<AppState>, caller: Caller) -> Result<Json<MeView>> {
    app.allow(&caller, Action::ProfileRead, &Resource::Account(caller.actor.id)).await?;
    Ok(Json(MeView::of(&app.store, &caller).await?))
}
