//! Idempotency keys: the same request again gets the same reply, in the effect's own transaction.
//!
//! The key row is inserted before the commit, so of two equal requests at once one waits for the other and then
//! fails on the primary key; it is answered with the stored reply. Errors are not stored: they may be tried again.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::WriteTx;
use chrono::{DateTime, Utc};
use uuid::Uuid;

/// The primary key's name, as [`StoreError::Duplicate`] gives it: somebody else was faster, read the reply.
pub const DUPLICATE: &str = "idempotency_keys_pkey";

/// Who asked, with which key, for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// A user's or token's id.
    pub caller: Uuid,
    /// 1 to 255 characters.
    pub key: String,
    /// sha256 of method, path and body.
    pub request_hash: Vec<u8>,
}

impl IdempotencyKey {
    /// What a stored row means for this request.
    pub(crate) fn known(&self, hash: &[u8], status: i16, headers: serde_json::Value, body: Vec<u8>) -> Known {
        if hash != self.request_hash {
            return Known::Other;
        }
        Known::Same(StoredReply { status: u16::try_from(status).unwrap_or(200), headers, body })
    }
}

/// A reply as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReply {
    pub status: u16,
    pub headers: serde_json::Value,
    pub body: Vec<u8>,
}

/// What is known of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    New,
    /// The same request: answer with this.
    Same(StoredReply),
    /// Another request had this key: refuse.
    Other,
}

/// Looks a key up before the work.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn find(store: &Store, key: &IdempotencyKey) -> Result<Known, StoreError> {
    let row = sqlx::query!(
        "select request_hash, status, response_headers, response from idempotency_keys
         where caller = $1 and key = $2",
        key.caller,
        key.key
    )
    .fetch_optional(store.pool())
    .await?;
    Ok(row.map_or(Known::New, |row| {
        key.known(&row.request_hash, row.status, row.response_headers, row.response)
    }))
}

/// Keeps the reply, in the effect's transaction.
///
/// # Errors
/// [`StoreError::Duplicate`] with [`DUPLICATE`] when an equal request was faster: roll back and [`find`] its reply.
pub async fn remember(tx: &mut WriteTx, key: &IdempotencyKey, reply: &StoredReply) -> Result<(), StoreError> {
    let now = tx.now();
    sqlx::query!(
        "insert into idempotency_keys (caller, key, request_hash, status, response_headers, response, created_at)
         values ($1, $2, $3, $4, $5, $6, $7)",
        key.caller,
        key.key,
        key.request_hash,
        i16::try_from(reply.status).unwrap_or(200),
        reply.headers,
        reply.body,
        now
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Forgets keys made before `before`; at most `limit` a call. Returns how many went.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn expire(store: &Store, before: DateTime<Utc>, limit: i64) -> Result<u64, StoreError> {
    // Housekeeping of replies that nobody may ask for any more: no event, it changes nothing that people see.
    let done = sqlx::query!(
        "delete from idempotency_keys where (caller, key) in
           (select caller, key from idempotency_keys where created_at < $1 order by created_at limit $2)",
        before,
        limit
    )
    .execute(store.pool())
    .await?;
    Ok(done.rows_affected())
}
