//! One-time join tokens: what lets a machine become a node of a pool.
//!
//! Only a token's hash is kept. This module refuses to give a token back: it is shown once, by whoever made it.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::{PoolId, RowId, UserId};
use serde_json::json;
use uuid::Uuid;

/// A token as people see it.
#[derive(Debug, Clone)]
pub struct JoinToken {
    pub id: Uuid,
    pub hint: String,
    pub pool_id: Uuid,
    pub pool_slug: String,
    pub max_uses: i32,
    pub uses: i32,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub revoked_at: Option<DateTime<Utc>>,
}

/// A token to be kept.
#[derive(Debug, Clone)]
pub struct NewJoinToken {
    pub hash: Vec<u8>,
    /// Its first characters, so that people recognise it.
    pub hint: String,
    pub pool: PoolId,
    pub max_uses: i32,
    pub created_by: UserId,
    pub expires_at: DateTime<Utc>,
}

macro_rules! select_join_tokens {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            JoinToken,
            "select t.id, t.hint, t.pool_id, p.slug as pool_slug, t.max_uses, t.uses, t.created_at, t.expires_at,
                    t.revoked_at
             from join_tokens t join pools p on p.id = t.pool_id " + $rest
            $(, $argument)*
        )
    };
}

/// Newest first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(store: &Store, after: Option<Uuid>, limit: i64) -> Result<Vec<JoinToken>, StoreError> {
    Ok(select_join_tokens!("where $1::uuid is null or t.id < $1 order by t.id desc limit $2", after, limit)
        .fetch_all(store.pool())
        .await?)
}

/// One token.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn get(store: &Store, id: RowId) -> Result<JoinToken, StoreError> {
    Ok(select_join_tokens!("where t.id = $1", id.0).fetch_one(store.pool()).await?)
}

/// Keeps a new token's hash.
///
/// # Errors
/// [`StoreError::Reference`] when the pool is gone.
pub async fn create(tx: &mut WriteTx, new: &NewJoinToken) -> Result<JoinToken, StoreError> {
    let (id, now) = (RowId::mint(tx.now()), tx.now());
    sqlx::query!(
        "insert into join_tokens (id, token_hash, hint, pool_id, max_uses, created_by, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        id.0,
        new.hash,
        new.hint,
        new.pool.0,
        new.max_uses,
        new.created_by.0,
        now,
        new.expires_at
    )
    .execute(tx.connection())
    .await?;
    let token = select_join_tokens!("where t.id = $1", id.0).fetch_one(tx.connection()).await?;
    tx.record(
        NewEvent::new("join_token.created", "join_token", id.0).after(
            json!({"pool": token.pool_slug, "max_uses": token.max_uses, "expires_at": token.expires_at}),
        ),
    );
    Ok(token)
}

/// Ends a token; ending it twice is fine.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn revoke(tx: &mut WriteTx, id: RowId) -> Result<(), StoreError> {
    let now = tx.now();
    let done =
        sqlx::query!("update join_tokens set revoked_at = coalesce(revoked_at, $2) where id = $1", id.0, now)
            .execute(tx.connection())
            .await?;
    if done.rows_affected() == 0 {
        return Err(StoreError::NotFound);
    }
    tx.record(NewEvent::new("join_token.revoked", "join_token", id.0));
    Ok(())
}
