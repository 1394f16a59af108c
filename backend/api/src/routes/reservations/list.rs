//! `GET /reservations`.

use super::view::ReservationView;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use crate::routes::time_ahead;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::PoolId;
use reeve_store::jobs::admission;
use reeve_store::{pools, reservations, teams};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReservationFilter {
    /// A pool's slug or id.
    pool: Option<String>,
    /// A team's slug or id, everything below it included.
    team: Option<String>,
    /// Those that end after this moment; left out = now.
    #[param(value_type = Option<DateTime<Utc>>)]
    from: Option<String>,
    /// Those that begin before this moment.
    #[param(value_type = Option<DateTime<Utc>>)]
    to: Option<String>,
}

/// GPUs reserved for teams, the first to begin first; those that are over only where `from` asks for them.
#[utoipa::path(get, path = "/api/v1/reservations", operation_id = "list_reservations", tag = "calendar",
    params(ReservationFilter, ListParams), responses((status = 200, body = PageView<ReservationView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<ReservationFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::ReservationRead, &Resource::Installation).await?;
    let filter = filter(&app, &list.filter).await?;
    let rows = reservations::list(&app.store, &filter, list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |row| (row.starts_at, row.id)).map(ReservationView::from)))
}

async fn filter(app: &AppState, asked: &ReservationFilter) -> Result<reservations::Filter> {
    let (from, to) = time_ahead::between(asked.from.as_deref(), asked.to.as_deref(), app.clock.now())?;
    let mut filter = reservations::Filter { pool: None, teams: None, from, to };
    if let Some(pool) = &asked.pool {
        filter.pool = Some(PoolId(pools::find(&app.store, pool).await?.id));
    }
    if let Some(team) = &asked.team {
        let team = teams::find(&app.store, team).await?.id;
        filter.teams = Some(admission::subtree(&app.store, team).await?);
    }
    Ok(filter)
}
