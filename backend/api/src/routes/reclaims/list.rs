//! `GET /reclaims`.

use super::view::{ReclaimView, views};
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::eviction::ReclaimState;
use reeve_core::id::{PoolId, TeamId};
use reeve_store::page::Page;
use reeve_store::{pools, reclaims, teams};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReclaimFilter {
    /// A pool's slug or id.
    pool: Option<String>,
    /// A team's slug or id, as the one that asked or as a victim.
    team: Option<String>,
    /// `waiting`, `done`, `dropped` or `timed_out`.
    state: Option<String>,
}

/// Reclaims with their evictions, newest first.
#[utoipa::path(get, path = "/api/v1/reclaims", operation_id = "list_reclaims", tag = "reclaims", params(ReclaimFilter, ListParams),
    responses((status = 200, body = PageView<ReclaimView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<ReclaimFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::ReclaimRead, &Resource::Installation).await?;
    let mut filter = reclaims::Filter { state: list.filter.state.clone(), ..reclaims::Filter::default() };
    if let Some(Err(error)) = filter.state.as_deref().map(str::parse::<ReclaimState>) {
        return Err(Problem::new(Code::InvalidQuery).error("state", "unknown_value", error.to_string()));
    }
    if let Some(pool) = &list.filter.pool {
        filter.pool = Some(PoolId(pools::find(&app.store, pool).await?.id));
    }
    if let Some(team) = &list.filter.team {
        filter.team = Some(TeamId(teams::find(&app.store, team).await?.id));
    }
    let rows = reclaims::list(&app.store, &filter, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |reclaim| reclaim.id);
    let items = views(&app.store, page.items).await?;
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}
