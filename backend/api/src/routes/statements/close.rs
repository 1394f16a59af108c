//! `POST /statements/{month}/close`: the first person proposes, another closes.

use super::month_path::{closed, month};
use super::view::MonthView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::money::decimal::Cost;
use reeve_store::StoreError;
use reeve_store::money::bills::{self, Bill};
use reeve_store::money::months::{self, MonthRow};
use reeve_store::money::{corrections, derive};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloseMonth {
    /// As `GET /statements` shows it: what is closed is what was seen.
    digest: String,
}

/// Proposes to close a month, or closes one that somebody else has proposed. A closed month never changes.
#[utoipa::path(post, path = "/api/v1/statements/{month}/close", operation_id = "close_month", tag = "money",
    params(("month" = String, Path, example = "2026-11")), request_body = CloseMonth, responses((status = 200, body = MonthView)))]
pub(crate) async fn close(
    State(app): State<AppState>,
    caller: Caller,
    Path(text): Path<String>,
    keyed: Keyed<CloseMonth>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    let month = month(&text)?;
    app.allow(&caller, Action::StatementClose, &Resource::Installation).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    if derive::progress(&app.store).await?.is_none_or(|(settled, _)| settled < month.ends_at()) {
        return Err(
            Problem::new(Code::MonthNotOver).detail(format!("use of {month} is not settled to its end yet"))
        );
    }
    let mut tx = app.begin(&caller).await?;
    let before = months::lock(&mut tx, month).await?;
    let bill = bills::month(&app.store, month, None).await?;
    if bill.digest() != body.digest {
        return Err(Problem::new(Code::StatementChanged).param("digest", bill.digest()));
    }
    match proposal(&before, &bill, caller.actor.id.0)? {
        Step::Propose => {
            let total = owed(&app, &bill).await?;
            months::propose(&mut tx, &bill, total, caller.actor.id).await?;
        }
        Step::Close => match months::close(&mut tx, month, &body.digest, caller.actor.id).await {
            Err(StoreError::Conflict) => return Err(Problem::new(Code::StatementChanged)),
            other => other?,
        },
    }
    let after = months::lock(&mut tx, month).await?.ok_or_else(Problem::not_found)?;
    once.commit(tx, StatusCode::OK, &MonthView::of_row(&after)).await
}

enum Step {
    Propose,
    Close,
}

fn proposal(before: &Option<MonthRow>, bill: &Bill, by: uuid::Uuid) -> Result<Step> {
    match before {
        Some(row) if row.is_closed() => Err(closed(row.month)),
        // What was proposed is not what there is any more: it is proposed anew.
        Some(row) if row.digest != bill.digest() => Ok(Step::Propose),
        Some(row) if row.proposed_by.id == by => Err(Problem::new(Code::SecondPersonNeeded)
            .detail(format!("you have proposed to close {} yourself: somebody else must", row.month))),
        Some(_) => Ok(Step::Close),
        None => Ok(Step::Propose),
    }
}

/// What all teams owe, corrections included, to the cent.
async fn owed(app: &AppState, bill: &Bill) -> Result<i64> {
    let booked = corrections::of_month(&app.store, bill.month).await?;
    let corrected: Cost = booked.iter().map(|one| super::view::cents(one.amount_cents)).sum();
    Ok(i64::try_from((bill.total() + corrected).cents()).unwrap_or(i64::MAX))
}
