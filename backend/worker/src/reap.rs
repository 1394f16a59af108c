//! Declares nodes lost whose lease is over. It never touches a node whose agent still has time to stop its jobs.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::NodeId;
use reeve_store::{Actor, Store, StoreError, WriteContext};

/// One look at all leases.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn step(store: &Store, now: DateTime<Utc>, margin: TimeDelta) -> Result<Vec<NodeId>, StoreError> {
    let context = WriteContext { actor: Actor::system("reaper"), request_id: None, now };
    let lost = reeve_store::report::lost::reap(store, &context, margin).await?;
    metrics::counter!("reeve_nodes_lost_total").increment(lost.len() as u64);
    Ok(lost)
}
