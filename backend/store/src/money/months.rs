//! Months: proposed by one person, closed by another, and then as they are.

use super::bills::Bill;
use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, NaiveDate, Utc};
use reeve_core::id::UserId;
use reeve_core::money::month::Month;
use reeve_core::text_enum;
use serde_json::json;
use uuid::Uuid;

text_enum! {
    MonthState {
        Proposed = "proposed",
        Closed = "closed",
    }
}

/// A person's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub id: Uuid,
    pub username: String,
    pub display_name: String,
}

/// A month that is proposed or closed; an open one has no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthRow {
    pub month: Month,
    pub state: MonthState,
    pub digest: String,
    pub price_version: i64,
    pub currency: String,
    pub total_cents: i64,
    pub proposed_by: Person,
    pub proposed_at: DateTime<Utc>,
    pub closed_by: Option<Person>,
    pub closed_at: Option<DateTime<Utc>>,
}

impl MonthRow {
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state == MonthState::Closed
    }
}

struct Row {
    month: NaiveDate,
    state: String,
    digest: String,
    price_version: i64,
    currency: String,
    total_cents: i64,
    proposed_by: Uuid,
    proposed_username: String,
    proposed_name: String,
    proposed_at: DateTime<Utc>,
    closed_by: Option<Uuid>,
    closed_username: Option<String>,
    closed_name: Option<String>,
    closed_at: Option<DateTime<Utc>>,
}

impl TryFrom<Row> for MonthRow {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let closed_by = match (row.closed_by, row.closed_username, row.closed_name) {
            (Some(id), Some(username), Some(display_name)) => Some(Person { id, username, display_name }),
            _ => None,
        };
        Ok(Self {
            month: Month::of(row.month),
            state: row.state.parse()?,
            digest: row.digest,
            price_version: row.price_version,
            currency: row.currency,
            total_cents: row.total_cents,
            proposed_by: Person {
                id: row.proposed_by,
                username: row.proposed_username,
                display_name: row.proposed_name,
            },
            proposed_at: row.proposed_at,
            closed_by,
            closed_at: row.closed_at,
        })
    }
}

macro_rules! select_months {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            Row,
            r#"select m.month, m.state, m.digest, m.price_version, m.currency, m.total_cents, m.proposed_by,
                      p.username as proposed_username, p.display_name as proposed_name, m.proposed_at, m.closed_by,
                      c.username as "closed_username?", c.display_name as "closed_name?", m.closed_at
               from billing_months m join users p on p.id = m.proposed_by left join users c on c.id = m.closed_by "# + $rest
            $(, $argument)*
        )
    };
}

/// A month that is proposed or closed.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn find(store: &Store, month: Month) -> Result<Option<MonthRow>, StoreError> {
    let row = select_months!("where m.month = $1", month.first_day()).fetch_optional(store.pool()).await?;
    row.map(MonthRow::try_from).transpose()
}

/// The same, locked for a change.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn lock(tx: &mut WriteTx, month: Month) -> Result<Option<MonthRow>, StoreError> {
    // Two who propose at once find no row to lock: they take turns at the month itself.
    sqlx::query!("select pg_advisory_xact_lock(hashtext('billing_month'), hashtext($1))", month.to_string())
        .execute(tx.connection())
        .await?;
    let row = select_months!("where m.month = $1 for update of m", month.first_day())
        .fetch_optional(tx.connection())
        .await?;
    row.map(MonthRow::try_from).transpose()
}

/// Newest first, before a month.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(store: &Store, before: Option<NaiveDate>, limit: i64) -> Result<Vec<MonthRow>, StoreError> {
    let rows = select_months!(
        "where $1::date is null or m.month < $1 order by m.month desc limit $2",
        before,
        limit
    )
    .fetch_all(store.pool())
    .await?;
    rows.into_iter().map(MonthRow::try_from).collect()
}

/// Proposes to close a month as this bill says; an earlier proposal is replaced.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn propose(tx: &mut WriteTx, bill: &Bill, total_cents: i64, by: UserId) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into billing_months (month, state, digest, price_version, currency, total_cents, proposed_by, proposed_at)
         values ($1, 'proposed', $2, $3, $4, $5, $6, $7)
         on conflict (month) do update set digest = excluded.digest, price_version = excluded.price_version,
           currency = excluded.currency, total_cents = excluded.total_cents, proposed_by = excluded.proposed_by,
           proposed_at = excluded.proposed_at",
        bill.month.first_day(),
        bill.digest(),
        bill.prices.version,
        bill.prices.book.currency,
        total_cents,
        by.0,
        tx.now()
    )
    .execute(tx.connection())
    .await?;
    tell(tx, "month.proposed", bill.month, json!({"digest": bill.digest(), "total_cents": total_cents}));
    Ok(())
}

/// Closes a proposed month, in another person's name.
///
/// # Errors
/// [`StoreError::Conflict`] when it is not proposed with this digest any more; [`StoreError::Check`] by the same person.
pub async fn close(tx: &mut WriteTx, month: Month, digest: &str, by: UserId) -> Result<(), StoreError> {
    let closed = sqlx::query!(
        "update billing_months set state = 'closed', closed_by = $3, closed_at = $4
         where month = $1 and state = 'proposed' and digest = $2",
        month.first_day(),
        digest,
        by.0,
        tx.now()
    )
    .execute(tx.connection())
    .await?;
    if closed.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    tell(tx, "month.closed", month, json!({"digest": digest}));
    Ok(())
}

/// Takes a proposal back.
///
/// # Errors
/// [`StoreError::NotFound`] when there is none.
pub async fn withdraw(tx: &mut WriteTx, month: Month) -> Result<(), StoreError> {
    let gone =
        sqlx::query!("delete from billing_months where month = $1 and state = 'proposed'", month.first_day())
            .execute(tx.connection())
            .await?;
    if gone.rows_affected() != 1 {
        return Err(StoreError::NotFound);
    }
    tell(tx, "month.proposal_withdrawn", month, json!({}));
    Ok(())
}

fn tell(tx: &mut WriteTx, action: &'static str, month: Month, mut detail: serde_json::Value) {
    detail["month"] = month.to_string().into();
    let mut event = NewEvent::new(action, "month", Uuid::nil()).detail(detail);
    event.subject_id = None;
    tx.record(event);
}
