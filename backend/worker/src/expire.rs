//! Forgets what nobody may ask for any more: replies kept for idempotency keys, sessions and refresh tokens that ended
//! long ago, sign-ins through a provider that never came back, messages that were sent a month ago, results of exports, and how
//! GPUs were used, whose coming days it makes ready. It deletes nothing that gives access or that people see.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_store::{Store, StoreError, deliveries, gpu_use, idempotency, oidc_sign_in, operations, sessions};

/// Rows a statement.
const BATCH: i64 = 5_000;

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expired {
    pub replies: u64,
    pub sessions: u64,
    pub operations: u64,
    /// A batch was full: there may be more.
    pub again: bool,
}

/// Deletes one batch each of idempotency keys older than a day, and of sessions and refresh tokens that ended more than
/// 30 days ago (until then the reuse of a spent token is recognised).
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn step(store: &Store, now: DateTime<Utc>) -> Result<Expired, StoreError> {
    let replies = idempotency::expire(store, now - TimeDelta::hours(24), BATCH).await?;
    let sessions = sessions::expire(store, now - TimeDelta::days(30), BATCH).await?;
    let flows = oidc_sign_in::expire(store, now, BATCH).await?;
    let messages = deliveries::expire(store, now - TimeDelta::days(30), BATCH).await?;
    gpu_use::keep::days(store, now).await?;
    let hours = gpu_use::keep::hours(store, now, BATCH).await?;
    // With their results, which may be large: few at once.
    let operations = operations::expire(store, now, 20).await?;
    let full = BATCH.unsigned_abs();
    Ok(Expired {
        replies,
        sessions,
        operations,
        again: [replies, sessions, flows, messages, hours].iter().any(|&deleted| deleted >= full)
            || operations >= 20,
    })
}
