//! `GET /statements/{month}/{team}`.

use super::month_path::month;
use super::view::{StatementView, statement};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use crate::refs::TeamRef;
use axum::Json;
use axum::extract::{Path, State};
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_core::money::bill::statements;
use reeve_store::money::names::NameBook;
use reeve_store::money::{bills, corrections};
use reeve_store::teams;

/// A team's statement of a month, without the teams below it.
#[utoipa::path(get, path = "/api/v1/statements/{month}/{team}", operation_id = "show_statement", tag = "money",
    params(("month" = String, Path, example = "2026-11"), ("team" = String, Path)), responses((status = 200, body = StatementView)))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path((text, team)): Path<(String, String)>,
) -> Result<Json<StatementView>> {
    let team = teams::find(&app.store, &team).await?;
    let id = TeamId(team.id);
    app.allow(&caller, Action::StatementRead, &Resource::Team(id)).await?;
    let bill = bills::month(&app.store, month(&text)?, Some(&[id])).await?;
    let booked = corrections::of_month(&app.store, bill.month).await?;
    let own = booked.into_iter().filter(|one| one.team_id == team.id).collect();
    let found = statements(&bill.lines).remove(&Some(id)).unwrap_or_default();
    let names = NameBook::read(&app.store).await?;
    let team = TeamRef { id: team.id, slug: team.slug, name: team.name };
    Ok(Json(statement(&bill, team, &found, own, &names)))
}
