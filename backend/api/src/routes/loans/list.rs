//! `GET /loans`.

use super::view::LoanView;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use chrono::{DateTime, Utc};
use reeve_core::access::{Action, Resource};
use reeve_core::id::{PoolId, TeamId};
use reeve_store::{loans, pools, teams};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoanFilter {
    /// A pool's slug or id.
    pool: Option<String>,
    /// A team's slug or id, as borrower or lender.
    team: Option<String>,
    /// Only running, or only ended ones.
    open: Option<bool>,
    /// Only those that overlap the span.
    from: Option<DateTime<Utc>>,
    to: Option<DateTime<Utc>>,
}

/// Loans, newest first: an interval each, with a new one at every change of the amount.
#[utoipa::path(get, path = "/api/v1/loans", operation_id = "list_loans", tag = "loans", params(LoanFilter, ListParams),
    responses((status = 200, body = PageView<LoanView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<LoanFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::LoanRead, &Resource::Installation).await?;
    let mut filter = loans::Filter {
        open: list.filter.open,
        from: list.filter.from,
        to: list.filter.to,
        ..loans::Filter::default()
    };
    if let Some(pool) = &list.filter.pool {
        filter.pool = Some(PoolId(pools::find(&app.store, pool).await?.id));
    }
    if let Some(team) = &list.filter.team {
        filter.team = Some(TeamId(teams::find(&app.store, team).await?.id));
    }
    let rows = loans::list(&app.store, &filter, list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |loan| loan.id).map(LoanView::from)))
}
