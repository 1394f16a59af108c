//! `GET /policy/versions`.

use super::view::PolicyView;
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::policy;

/// Every version that was put in force, newest first, with its author. To roll back, put an older one's document again.
#[utoipa::path(get, path = "/api/v1/policy/versions", operation_id = "list_policy_versions", tag = "policy", params(ListParams),
    responses((status = 200, body = PageView<PolicyView>)))]
pub(crate) async fn versions(
    State(app): State<AppState>,
    caller: Caller,
    list: List<Empty>,
) -> Result<Response> {
    app.allow(&caller, Action::PolicyRead, &Resource::Installation).await?;
    let rows = policy::versions(&app.store, list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |one| one.version).map(PolicyView::from)))
}
