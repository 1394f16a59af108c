//! `GET /teams`.

use super::view::TeamView;
use crate::app::AppState;
use crate::extract::{Caller, Empty, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::teams;

/// Lists teams by slug. Names are everybody's to see.
#[utoipa::path(get, path = "/api/v1/teams", operation_id = "list_teams", tag = "teams", params(ListParams),
    responses((status = 200, body = PageView<TeamView>)))]
pub(crate) async fn list(State(app): State<AppState>, caller: Caller, list: List<Empty>) -> Result<Response> {
    app.allow(&caller, Action::TeamRead, &Resource::Installation).await?;
    let rows = teams::list(&app.store, list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |team| team.slug.clone()).map(|team| TeamView::new(team, &caller))))
}
