//! `GET /statements`.

use super::view::{MonthView, StatementsView, corrected, item};
use crate::app::AppState;
use crate::extract::{Caller, Params};
use crate::problem::Result;
use crate::routes::usage::span::{refused, seen_teams};
use axum::Json;
use axum::extract::State;
use reeve_core::access::Action;
use reeve_core::id::TeamId;
use reeve_core::money::bill::statements;
use reeve_core::money::decimal::Cost;
use reeve_core::money::month::Month;
use reeve_store::money::names::NameBook;
use reeve_store::money::{bills, corrections};
use serde::Deserialize;
use std::collections::BTreeMap;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatementsParams {
    /// As 2026-11; this month when left out.
    month: Option<String>,
}

/// What each team owes for a month. Leads see their teams.
#[utoipa::path(get, path = "/api/v1/statements", operation_id = "list_statements", tag = "money", params(StatementsParams),
    responses((status = 200, body = StatementsView)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    Params(params): Params<StatementsParams>,
) -> Result<Json<StatementsView>> {
    let teams = seen_teams(&app, &caller, Action::StatementRead, None).await?;
    let month = match &params.month {
        Some(text) => text.parse().map_err(|_| refused("month", "invalid_value", "a month, as 2026-11"))?,
        None => Month::of(app.clock.now().date_naive()),
    };
    let bill = bills::month(&app.store, month, teams.as_deref()).await?;
    let booked = corrections::of_month(&app.store, month).await?;
    let names = NameBook::read(&app.store).await?;
    let mut by_team = statements(&bill.lines);
    for one in &booked {
        let team = TeamId(one.team_id);
        if teams.as_ref().is_none_or(|teams| teams.contains(&team)) {
            by_team.entry(Some(team)).or_default();
        }
    }
    let by_team: BTreeMap<_, _> = by_team.into_iter().collect();
    let owed = by_team.iter().filter(|(team, _)| team.is_some());
    let total: Cost =
        owed.map(|(team, statement)| statement.amounts.cost() + corrected(&booked, *team)).sum();
    Ok(Json(StatementsView {
        digest: teams.is_none().then(|| bill.digest()),
        items: by_team
            .iter()
            .map(|(team, statement)| item(*team, statement, corrected(&booked, *team), &names))
            .collect(),
        total_exact: total.exact(),
        total: total.to_the_cent(),
        unpriced: by_team.values().any(|statement| statement.unpriced),
        month: MonthView::of(&bill),
    }))
}
