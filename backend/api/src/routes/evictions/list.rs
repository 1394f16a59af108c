//! `GET /evictions`.

use super::view::{EvictionView, views};
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::eviction::EvictionCause;
use reeve_core::id::TeamId;
use reeve_store::page::Page;
use reeve_store::{evictions, teams};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvictionFilter {
    /// A team's slug or id: whose jobs were evicted.
    team: Option<String>,
    cause: Option<String>,
}

/// Evictions, newest first, each with its reason. Sharing is visible: everybody sees them.
#[utoipa::path(get, path = "/api/v1/evictions", operation_id = "list_evictions", tag = "reclaims", params(EvictionFilter, ListParams),
    responses((status = 200, body = PageView<EvictionView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<EvictionFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::ReclaimRead, &Resource::Installation).await?;
    let mut filter = evictions::Filter { cause: list.filter.cause.clone(), ..evictions::Filter::default() };
    if let Some(Err(error)) = filter.cause.as_deref().map(str::parse::<EvictionCause>) {
        return Err(Problem::new(Code::InvalidQuery).error("cause", "unknown_value", error.to_string()));
    }
    if let Some(team) = &list.filter.team {
        filter.team = Some(TeamId(teams::find(&app.store, team).await?.id));
    }
    let rows = evictions::list(&app.store, &filter, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |eviction| eviction.id);
    let items = views(&app.store, page.items).await?;
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}
