//! Forgets what nobody may ask for any more: replies kept for idempotency keys. It deletes nothing that people see.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_store::{Store, StoreError, idempotency};

/// Rows a statement.
const BATCH: i64 = 5_000;

/// Deletes one batch of idempotency keys older than a day; answers how many.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn step(store: &Store, now: DateTime<Utc>) -> Result<u64, StoreError> {
    idempotency::expire(store, now - TimeDelta::hours(24), BATCH).await
}
