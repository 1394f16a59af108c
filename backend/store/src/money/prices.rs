//! The price book and its versions. A version is never changed: what was billed by it can be billed again.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, NaiveDate, Utc};
use reeve_core::id::UserId;
use reeve_core::money::price::PriceBook;
use serde_json::{Value, json};
use uuid::Uuid;

/// A version of the book.
#[derive(Debug, Clone, Default)]
pub struct PriceVersion {
    /// 0 = nobody has set anything yet.
    pub version: i64,
    pub book: PriceBook,
    pub created_by: Option<(Uuid, String, String)>,
    pub created_at: Option<DateTime<Utc>>,
}

struct Row {
    version: i64,
    document: Value,
    user_id: Option<Uuid>,
    username: Option<String>,
    display_name: Option<String>,
    created_at: DateTime<Utc>,
}

impl TryFrom<Row> for PriceVersion {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let by = match (row.user_id, row.username, row.display_name) {
            (Some(id), Some(username), Some(name)) => Some((id, username, name)),
            _ => None,
        };
        Ok(Self {
            version: row.version,
            book: serde_json::from_value(row.document)?,
            created_by: by,
            created_at: Some(row.created_at),
        })
    }
}

macro_rules! select_books {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            Row,
            r#"select b.version, b.document, u.id as "user_id?", u.username as "username?",
                      u.display_name as "display_name?", b.created_at
               from price_books b left join users u on u.id = b.created_by "# + $rest
            $(, $argument)*
        )
    };
}

/// The newest version.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn in_force(store: &Store) -> Result<PriceVersion, StoreError> {
    let row = select_books!("order by b.version desc limit 1").fetch_optional(store.pool()).await?;
    row.map_or_else(|| Ok(PriceVersion::default()), PriceVersion::try_from)
}

/// One version.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn version(store: &Store, version: i64) -> Result<PriceVersion, StoreError> {
    if version == 0 {
        return Ok(PriceVersion::default());
    }
    select_books!("where b.version = $1", version).fetch_one(store.pool()).await?.try_into()
}

/// Newest first, before a version.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn versions(
    store: &Store,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<PriceVersion>, StoreError> {
    let rows = select_books!(
        "where b.version < $1 order by b.version desc limit $2",
        before.unwrap_or(i64::MAX),
        limit
    )
    .fetch_all(store.pool())
    .await?;
    rows.into_iter().map(PriceVersion::try_from).collect()
}

/// Puts a book in force after the one that was read.
///
/// # Errors
/// [`StoreError::Duplicate`] when somebody was faster.
pub async fn put(
    tx: &mut WriteTx,
    before: &PriceVersion,
    book: &PriceBook,
    by: UserId,
) -> Result<i64, StoreError> {
    let version = before.version + 1;
    sqlx::query!(
        "insert into price_books (version, document, created_by, created_at) values ($1, $2, $3, $4)",
        version,
        serde_json::to_value(book)?,
        by.0,
        tx.now()
    )
    .execute(tx.connection())
    .await?;
    let mut event = NewEvent::new("prices.changed", "prices", Uuid::nil())
        .before(serde_json::to_value(&before.book)?)
        .after(serde_json::to_value(book)?)
        .detail(json!({"version": version}));
    event.subject_id = None;
    tx.record(event);
    Ok(version)
}

/// The first day that no closed month holds: whatever is before cannot change any more.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn open_from(store: &Store) -> Result<Option<NaiveDate>, StoreError> {
    let last: Option<NaiveDate> =
        sqlx::query_scalar!("select max(month) from billing_months where state = 'closed'")
            .fetch_one(store.pool())
            .await?;
    Ok(last.map(|month| reeve_core::money::month::Month::of(month).next().first_day()))
}
