//! `GET /teams/{team}/members`.

use super::view::MemberView;
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_store::{memberships, teams};

/// Lists the roles given in a team, by username.
#[utoipa::path(get, path = "/api/v1/teams/{team}/members", operation_id = "list_members", tag = "teams",
    params(ListParams, ("team" = String, Path, description = "Id or slug")),
    responses((status = 200, body = PageView<MemberView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    Path(team): Path<String>,
    list: List<Empty>,
) -> Result<Response> {
    let team = TeamId(teams::find(&app.store, &team).await?.id);
    app.allow(&caller, Action::MemberRead, &Resource::Team(team)).await?;
    let rows = memberships::of_team(&app.store, team, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |member| (member.username.clone(), member.role.clone()));
    Ok(list.reply(page.map(MemberView::from)))
}
