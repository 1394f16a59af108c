//! The sealing loop's step. What it refuses to do is [`reeve_store::seal`]'s.

use chrono::{DateTime, Utc};
use reeve_store::seal::Sealed;
use reeve_store::{Store, StoreError};

/// Seals one batch.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn step(store: &Store, now: DateTime<Utc>) -> Result<Sealed, StoreError> {
    let sealed = reeve_store::seal::step(store, now).await?;
    metrics::counter!("reeve_events_sealed_total").increment(sealed.events as u64);
    Ok(sealed)
}
