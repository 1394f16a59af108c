//! `GET /teams/{team}`.

use super::view::TeamView;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::IntoResponse;
use reeve_core::access::{Action, Resource};
use reeve_store::{teams, version};

/// Shows a team, by id or slug.
#[utoipa::path(get, path = "/api/v1/teams/{team}", operation_id = "show_team", tag = "teams",
    params(("team" = String, Path, description = "Id or slug")), responses((status = 200, body = TeamView)))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(team): Path<String>,
) -> Result<impl IntoResponse> {
    app.allow(&caller, Action::TeamRead, &Resource::Installation).await?;
    let team = teams::find(&app.store, &team).await?;
    let tag = [(header::ETAG, version::etag(team.version))];
    Ok((tag, Json(TeamView::new(team, &caller))))
}
