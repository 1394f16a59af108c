//! The installation's policy: one document a version, the newest counts. Versions are never changed.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::UserId;
use reeve_core::policy::Policy;
use serde_json::json;
use uuid::Uuid;

/// The policy in force. Version 0 = the product's defaults, nothing stored yet.
#[derive(Debug, Clone)]
pub struct PolicyInForce {
    pub version: i64,
    pub document: Policy,
    pub created_by: Option<Uuid>,
    pub created_by_username: Option<String>,
    pub created_by_name: Option<String>,
    pub created_at: Option<DateTime<Utc>>,
}

struct Row {
    version: i64,
    document: serde_json::Value,
    created_by: Option<Uuid>,
    created_at: DateTime<Utc>,
    username: Option<String>,
    display_name: Option<String>,
}

impl TryFrom<Row> for PolicyInForce {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            version: row.version,
            document: serde_json::from_value(row.document)?,
            created_by: row.created_by,
            created_by_username: row.username,
            created_by_name: row.display_name,
            created_at: Some(row.created_at),
        })
    }
}

/// The newest version.
///
/// # Errors
/// [`StoreError::Unreadable`] for a document that this version does not understand.
pub async fn in_force(store: &Store) -> Result<PolicyInForce, StoreError> {
    Ok(versions(store, None, 1).await?.pop().unwrap_or(PolicyInForce {
        version: 0,
        document: Policy::default(),
        created_by: None,
        created_by_username: None,
        created_by_name: None,
        created_at: None,
    }))
}

/// Versions that were put in force, newest first.
///
/// # Errors
/// As [`in_force`].
pub async fn versions(
    store: &Store,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<PolicyInForce>, StoreError> {
    let rows = sqlx::query_as!(
        Row,
        r#"select p.version, p.document, p.created_by, p.created_at, u.username as "username?",
                  u.display_name as "display_name?"
           from policies p left join users u on u.id = p.created_by
           where $1::bigint is null or p.version < $1 order by p.version desc limit $2"#,
        before,
        limit
    )
    .fetch_all(store.pool())
    .await?;
    rows.into_iter().map(PolicyInForce::try_from).collect()
}

/// Puts a new version in force.
///
/// # Errors
/// [`StoreError::Duplicate`] when another version came in between.
pub async fn put(
    tx: &mut WriteTx,
    before: &PolicyInForce,
    document: &Policy,
    by: UserId,
) -> Result<i64, StoreError> {
    let now = tx.now();
    let version = before.version + 1;
    sqlx::query!(
        "insert into policies (version, document, created_by, created_at) values ($1, $2, $3, $4)",
        version,
        serde_json::to_value(document)?,
        by.0,
        now
    )
    .execute(tx.connection())
    .await?;
    let mut event = NewEvent::new("policy.applied", "policy", Uuid::nil())
        .before(serde_json::to_value(&before.document)?)
        .after(serde_json::to_value(document)?)
        .detail(json!({"version": version}));
    event.subject_id = None;
    tx.record(event);
    tx.wake_schedule();
    Ok(version)
}
