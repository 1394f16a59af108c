//! Corrections of closed months: new lines, booked in the month that is open. None is ever changed.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, NaiveDate, Utc};
use reeve_core::id::{RowId, TeamId, UserId};
use reeve_core::money::month::Month;
use serde_json::json;
use uuid::Uuid;

/// A correction.
#[derive(Debug, Clone)]
pub struct Correction {
    pub id: Uuid,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub corrects_month: NaiveDate,
    pub month: NaiveDate,
    pub amount_cents: i64,
    pub currency: String,
    pub reason: String,
    pub created_by: Uuid,
    pub username: String,
    pub display_name: String,
    pub created_at: DateTime<Utc>,
}

/// Corrections booked in a month, oldest first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn of_month(store: &Store, month: Month) -> Result<Vec<Correction>, StoreError> {
    Ok(sqlx::query_as!(
        Correction,
        "select c.id, c.team_id, t.slug as team_slug, t.name as team_name, c.corrects_month, c.month, c.amount_cents,
                c.currency, c.reason, c.created_by, u.username, u.display_name, c.created_at
         from statement_corrections c join teams t on t.id = c.team_id join users u on u.id = c.created_by
         where c.month = $1 order by c.id",
        month.first_day()
    )
    .fetch_all(store.pool())
    .await?)
}

/// What is booked.
#[derive(Debug, Clone)]
pub struct NewCorrection<'a> {
    pub team: TeamId,
    pub corrects: Month,
    pub booked_in: Month,
    pub amount_cents: i64,
    pub currency: &'a str,
    pub reason: &'a str,
    pub by: UserId,
}

/// Books it.
///
/// # Errors
/// [`StoreError::Reference`] when the month was never closed.
pub async fn book(tx: &mut WriteTx, new: &NewCorrection<'_>) -> Result<Uuid, StoreError> {
    let id = RowId::mint(tx.now()).0;
    sqlx::query!(
        "insert into statement_corrections (id, team_id, corrects_month, month, amount_cents, currency, reason, created_by,
                                            created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        id,
        new.team.0,
        new.corrects.first_day(),
        new.booked_in.first_day(),
        new.amount_cents,
        new.currency,
        new.reason,
        new.by.0,
        tx.now()
    )
    .execute(tx.connection())
    .await?;
    let event = NewEvent::new("statement.corrected", "correction", id).team(new.team).after(json!({
        "corrects_month": new.corrects.to_string(), "month": new.booked_in.to_string(),
        "amount_cents": new.amount_cents, "currency": new.currency, "reason": new.reason,
    }));
    tx.record(event);
    Ok(id)
}
