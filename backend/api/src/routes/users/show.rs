//! `GET /users/{id}`.

use super::view::{UserView, one};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::IntoResponse;
use reeve_core::access::{Action, Resource};
use reeve_store::{users, version};

/// Shows a person, by id or username.
#[utoipa::path(get, path = "/api/v1/users/{id}", operation_id = "show_user", tag = "users",
    params(("id" = String, Path, description = "Id or username")), responses((status = 200, body = UserView)))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<impl IntoResponse> {
    app.allow(&caller, Action::UserRead, &Resource::Installation).await?;
    let user = users::find(&app.store, &id).await?;
    let tag = [(header::ETAG, version::etag(user.version))];
    Ok((tag, Json(one(&app.store, user).await?)))
}
