//! What people say about an escalation.

use super::change;
use super::row::EscalationRow;
use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::WriteTx;
use chrono::{DateTime, Utc};
use reeve_core::id::{EscalationId, RowId, UserId};
use serde_json::json;
use uuid::Uuid;

/// A comment with its author's names.
#[derive(Debug, Clone)]
pub struct Comment {
    pub id: Uuid,
    pub user_id: Uuid,
    pub username: String,
    pub display_name: String,
    pub text: String,
    pub created_at: DateTime<Utc>,
}

/// Oldest first, after an id.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    escalation: EscalationId,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Comment>, StoreError> {
    Ok(sqlx::query_as!(
        Comment,
        "select c.id, c.user_id, u.username, u.display_name, c.text, c.created_at
         from escalation_comments c join users u on u.id = c.user_id
         where c.escalation_id = $1 and ($2::uuid is null or c.id > $2) order by c.id limit $3",
        escalation.0,
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// Adds one.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn add(
    tx: &mut WriteTx,
    row: &EscalationRow,
    by: UserId,
    text: &str,
) -> Result<Comment, StoreError> {
    let now = tx.now();
    let id = RowId::mint(now).0;
    sqlx::query!(
        "insert into escalation_comments (id, escalation_id, user_id, text, created_at) values ($1, $2, $3, $4, $5)",
        id,
        row.id,
        by.0,
        text,
        now
    )
    .execute(tx.connection())
    .await?;
    tx.record(change::event(row, "escalation.commented").after(json!({"text": text})));
    let author = sqlx::query!("select username, display_name from users where id = $1", by.0)
        .fetch_one(tx.connection())
        .await?;
    Ok(Comment {
        id,
        user_id: by.0,
        username: author.username,
        display_name: author.display_name,
        text: text.to_owned(),
        created_at: now,
    })
}
