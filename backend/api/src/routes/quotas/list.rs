//! `GET /quotas`.

use super::view::{QuotaView, views};
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::{PoolId, TeamId};
use reeve_store::page::Page;
use reeve_store::{pools, quotas, teams};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuotaFilter {
    /// A team's slug or id.
    team: Option<String>,
    /// A pool's slug or id.
    pool: Option<String>,
}

/// Quotas by pool and team, with what is used of each; a parent's use covers everything below it.
#[utoipa::path(get, path = "/api/v1/quotas", operation_id = "list_quotas", tag = "quotas", params(QuotaFilter, ListParams),
    responses((status = 200, body = PageView<QuotaView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<QuotaFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::QuotaRead, &Resource::Installation).await?;
    let mut filter = quotas::Filter::default();
    if let Some(team) = &list.filter.team {
        filter.team = Some(TeamId(teams::find(&app.store, team).await?.id));
    }
    if let Some(pool) = &list.filter.pool {
        filter.pool = Some(PoolId(pools::find(&app.store, pool).await?.id));
    }
    let rows = quotas::list(&app.store, &filter, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |quota| (quota.pool_slug.clone(), quota.team_slug.clone()));
    let uses = quotas::use_by_team(&app.store, filter.pool).await?;
    let items = views(page.items, uses, app.clock.now());
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}
