//! Settles the ledger and measures budgets against it.

use chrono::{DateTime, Utc};
use reeve_store::money::derive::{self, Derived};
use reeve_store::{Store, StoreError, budgets};

/// The ledger up to now, then every budget's use.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn step(store: &Store, now: DateTime<Utc>) -> Result<Derived, StoreError> {
    let derived = derive::step(store, now).await?;
    budgets::measure(store, now).await?;
    Ok(derived)
}
