//! A look at the world as the planner sees it, for those who only ask.

use super::snapshot;
use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::schedule::snapshot::Snapshot;

/// Everything that is true now, read in one read-only transaction. Takes no lock that a tick waits for.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn look(store: &Store, now: DateTime<Utc>) -> Result<Snapshot, StoreError> {
    let mut tx = store.pool().begin_with("begin isolation level repeatable read read only").await?;
    let loaded = snapshot::load(&mut tx, now).await?;
    tx.rollback().await?;
    Ok(loaded.snapshot)
}
