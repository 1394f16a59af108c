//! Loops say when they last worked, for readiness and the console. Beats are no state changes and leave no events.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The scheduling loop's name.
pub const SCHEDULE: &str = "schedule";

/// What the scheduler says of its last tick beside the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// From the lock to the commit.
    pub tick_ms: i64,
    /// Jobs that it left waiting.
    pub pending_jobs: i64,
}

/// The scheduler's last word, on whichever server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastTick {
    pub at: DateTime<Utc>,
    /// Unknown when an older version wrote it.
    pub tick: Option<Tick>,
}

impl LastTick {
    /// Seconds since then; a clock behind the other server's is no silence.
    #[must_use]
    pub fn silent_secs(&self, now: DateTime<Utc>) -> i64 {
        (now - self.at).num_seconds().max(0)
    }
}

/// Loop `name` has done a step.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn beat(
    store: &Store,
    name: &str,
    now: DateTime<Utc>,
    tick: Option<Tick>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into loop_beats (loop, last_step_at, detail) values ($1, $2, $3)
         on conflict (loop) do update set last_step_at = excluded.last_step_at, detail = excluded.detail
         where loop_beats.last_step_at <= excluded.last_step_at",
        name,
        now,
        tick.map(serde_json::to_value).transpose()?
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

/// The scheduler's last tick; `None` = it has never looked.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn last_tick(store: &Store) -> Result<Option<LastTick>, StoreError> {
    let row = sqlx::query!("select last_step_at, detail from loop_beats where loop = $1", SCHEDULE)
        .fetch_optional(store.pool())
        .await?;
    Ok(row.map(|row| LastTick {
        at: row.last_step_at,
        tick: row.detail.and_then(|detail| serde_json::from_value(detail).ok()),
    }))
}
