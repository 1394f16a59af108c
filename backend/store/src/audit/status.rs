//! How far the log is sealed, signed and verified, and whether anybody could change it.

use super::checkpoint::{self, Checkpoint};
use crate::connect::Store;
use crate::error::StoreError;
use crate::rights;
use chrono::{DateTime, Utc};

/// The loop's name in `loop_beats`.
pub const LOOP: &str = "checkpoint";

/// The log at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub last_position: i64,
    /// The newest checkpoint; everything up to it was verified before it was signed.
    pub checkpoint: Option<Checkpoint>,
    /// Where the last look found it broken, as `position: why`.
    pub broken: Option<String>,
    /// When the last look was.
    pub looked_at: Option<DateTime<Utc>>,
    /// The service's role can neither change nor remove events.
    pub append_only_by_rights: bool,
}

/// Reads it.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn read(store: &Store) -> Result<Status, StoreError> {
    let beat = sqlx::query!(
        r#"select last_step_at, detail->>'broken' as broken from loop_beats where loop = $1"#,
        LOOP
    )
    .fetch_optional(store.pool())
    .await?;
    let (looked_at, broken) = beat.map_or((None, None), |row| (Some(row.last_step_at), row.broken));
    Ok(Status {
        last_position: crate::event::last_position(store).await?,
        checkpoint: checkpoint::newest(store).await?,
        broken,
        looked_at,
        append_only_by_rights: rights::append_only(store).await?,
    })
}

/// Says what the last look found.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn looked(store: &Store, now: DateTime<Utc>, broken: Option<&str>) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into loop_beats (loop, last_step_at, detail) values ($1, $2, jsonb_build_object('broken', $3::text))
         on conflict (loop) do update set last_step_at = excluded.last_step_at, detail = excluded.detail",
        LOOP,
        now,
        broken
    )
    .execute(store.pool())
    .await?;
    Ok(())
}
