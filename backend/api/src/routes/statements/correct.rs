//! `POST /statements/{month}/corrections`: what was wrong in a closed month, as a new line in the open one.

use super::month_path::month;
use super::view::CorrectionView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_core::money::decimal::parse;
use reeve_core::money::month::Month;
use reeve_store::money::corrections::{self, Correction, NewCorrection};
use reeve_store::money::{months, prices};
use reeve_store::{StoreError, teams};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewStatementCorrection {
    /// A team's slug or id.
    team: String,
    /// In the month's currency, to the cent; negative = the team gets it back.
    #[schema(example = "-12.50")]
    amount: String,
    reason: String,
}

/// Books a correction of a closed month. Nothing of that month changes.
#[utoipa::path(post, path = "/api/v1/statements/{month}/corrections", operation_id = "correct_statement", tag = "money",
    params(("month" = String, Path, example = "2026-11")), request_body = NewStatementCorrection,
    responses((status = 201, body = CorrectionView)))]
pub(crate) async fn correct(
    State(app): State<AppState>,
    caller: Caller,
    Path(text): Path<String>,
    keyed: Keyed<NewStatementCorrection>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    let corrects = month(&text)?;
    app.allow(&caller, Action::StatementClose, &Resource::Installation).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let row = months::find(&app.store, corrects).await?.filter(months::MonthRow::is_closed);
    let row = row.ok_or_else(|| {
        Problem::new(Code::MonthOpen)
            .detail(format!("{corrects} is not closed: what is wrong in it can still change"))
    })?;
    let cents = checked(&body)?;
    let team = teams::find(&app.store, &body.team).await.map_err(|error| match error {
        StoreError::NotFound => {
            Problem::new(Code::UnknownReference).error("/team", "unknown_team", "no such team")
        }
        other => other.into(),
    })?;
    let booked_in = open_month(&app).await?;
    let new = NewCorrection {
        team: TeamId(team.id),
        corrects,
        booked_in,
        amount_cents: cents,
        currency: &row.currency,
        reason: &body.reason,
        by: caller.actor.id,
    };
    let mut tx = app.begin(&caller).await?;
    let id = corrections::book(&mut tx, &new).await?;
    let view = CorrectionView::from(Correction {
        id,
        team_id: team.id,
        team_slug: team.slug,
        team_name: team.name,
        corrects_month: corrects.first_day(),
        month: booked_in.first_day(),
        amount_cents: cents,
        currency: row.currency.clone(),
        reason: body.reason.clone(),
        created_by: caller.actor.id.0,
        username: caller.username.clone(),
        display_name: caller.display_name.clone(),
        created_at: tx.now(),
    });
    once.commit(tx, StatusCode::CREATED, &view).await
}

fn checked(body: &NewStatementCorrection) -> Result<i64> {
    let mut fields = Fields::new();
    fields.text("/reason", &body.reason, 1, 500);
    let cents = parse(&body.amount, 2).and_then(|cents| i64::try_from(cents).ok());
    match cents {
        None => fields.add("/amount", "invalid_decimal", "a decimal with at most two digits after the point"),
        Some(0) => fields.add("/amount", "out_of_range", "not zero"),
        Some(_) => {}
    }
    fields.done()?;
    Ok(cents.unwrap_or(0))
}

/// This month, or the first after those that are closed already.
async fn open_month(app: &AppState) -> Result<Month> {
    let this = Month::of(app.clock.now().date_naive());
    let open_from = prices::open_from(&app.store).await?.map(Month::of);
    Ok(open_from.map_or(this, |open| open.max(this)))
}
