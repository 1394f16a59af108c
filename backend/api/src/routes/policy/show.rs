//! `GET /policy`.

use super::view::PolicyView;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use reeve_core::access::{Action, Resource};
use reeve_store::{policy, version};

/// Shows the policy in force.
#[utoipa::path(get, path = "/api/v1/policy", operation_id = "show_policy", tag = "policy",
    responses((status = 200, body = PolicyView)))]
pub(crate) async fn show(State(app): State<AppState>, caller: Caller) -> Result<impl IntoResponse> {
    app.allow(&caller, Action::PolicyRead, &Resource::Installation).await?;
    let policy = policy::in_force(&app.store).await?;
    let tag = [(header::ETAG, version::etag(policy.version))];
    Ok((tag, Json(PolicyView::from(policy))))
}
