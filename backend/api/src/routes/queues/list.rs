//! `GET /queues`.

use super::view::{QueueView, views};
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_store::page::Page;
use reeve_store::{queues, teams};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueueFilter {
    /// A team's slug or id.
    team: Option<String>,
}

/// Queues by slug, with what they hold.
#[utoipa::path(get, path = "/api/v1/queues", operation_id = "list_queues", tag = "queues", params(QueueFilter, ListParams),
    responses((status = 200, body = PageView<QueueView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<QueueFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::QueueRead, &Resource::Installation).await?;
    let team = match &list.filter.team {
        Some(name) => Some(TeamId(teams::find(&app.store, name).await?.id)),
        None => None,
    };
    let after: Option<String> = list.after()?;
    let rows = queues::list(&app.store, team, after.as_deref(), list.fetch()).await?;
    let page = list.cut(rows, |queue| queue.slug.clone());
    let items = views(&app.store, page.items).await?;
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}
