//! Loops say when they last worked, for readiness and the console. Beats are no state changes and leave no events.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};

/// Loop `name` has done a step.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn beat(store: &Store, name: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into loop_beats (loop, last_step_at) values ($1, $2)
         on conflict (loop) do update set last_step_at = greatest(loop_beats.last_step_at, excluded.last_step_at)",
        name,
        now
    )
    .execute(store.pool())
    .await?;
    Ok(())
}

/// When a loop last worked, on whichever server.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn last(store: &Store, name: &str) -> Result<Option<DateTime<Utc>>, StoreError> {
    Ok(sqlx::query_scalar!("select last_step_at from loop_beats where loop = $1", name)
        .fetch_optional(store.pool())
        .await?)
}
