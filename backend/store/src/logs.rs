//! Log text of members, in chunks by byte offset.
//!
//! Bytes are kept as they came: this module refuses to decode or cut lines. Beyond a member's limit the oldest
//! chunks are dropped, and readers are told where the text now begins.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::{JobId, NodeId};
use uuid::Uuid;

/// Which member's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogKey {
    pub job: JobId,
    pub run: i32,
    pub member: i32,
}

/// Where a log begins and ends now, and whether more may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    pub start: i64,
    pub end: i64,
    /// Nothing comes after `end`.
    pub complete: bool,
}

/// One stretch of a log.
#[derive(Debug, Clone)]
pub struct Chunk {
    pub start_offset: i64,
    pub bytes: Vec<u8>,
}

/// How long an agent may take to send the rest of a log after it told the member's end.
const LAST_WORDS_MINUTES: i64 = 10;

/// Where a member's log begins and ends. It is complete when the member has ended and all that it wrote is here, or will
/// not come any more: its node was lost, or stays silent for too long.
///
/// # Errors
/// [`StoreError::NotFound`] when the job has no such run or member.
pub async fn extent(store: &Store, key: LogKey, now: DateTime<Utc>) -> Result<Extent, StoreError> {
    let row = sqlx::query!(
        r#"select m.state, m.log_bytes, m.ended_at, coalesce(m.end_kind = 'lost', false) as "lost!",
                  coalesce((select min(c.start_offset) from log_chunks c
                            where c.job_id = $1 and c.run_number = $2 and c.member = $3), 0) as "start!",
                  coalesce((select c.start_offset + length(c.bytes) from log_chunks c
                            where c.job_id = $1 and c.run_number = $2 and c.member = $3
                            order by c.start_offset desc limit 1), 0) as "end!"
           from members m where m.job_id = $1 and m.run_number = $2 and m.member = $3"#,
        key.job.0,
        key.run,
        key.member
    )
    .fetch_one(store.pool())
    .await?;
    let whole = row.log_bytes.is_none_or(|bytes| row.end >= bytes);
    let silent = row.ended_at.is_none_or(|ended| ended + TimeDelta::minutes(LAST_WORDS_MINUTES) < now);
    let complete = row.state == "ended" && (whole || row.lost || silent);
    Ok(Extent { start: row.start, end: row.end, complete })
}

/// The chunks that hold bytes from `from` on, at most `limit` of them. The first may begin earlier.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn chunks(store: &Store, key: LogKey, from: i64, limit: i64) -> Result<Vec<Chunk>, StoreError> {
    Ok(sqlx::query_as!(
        Chunk,
        "select start_offset, bytes from log_chunks
         where job_id = $1 and run_number = $2 and member = $3
           and start_offset >= coalesce((select max(c.start_offset) from log_chunks c
                                         where c.job_id = $1 and c.run_number = $2 and c.member = $3
                                           and c.start_offset <= $4), 0)
         order by start_offset limit $5",
        key.job.0,
        key.run,
        key.member,
        from,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// Whether this node runs, or ran, that member: only its agent may write the log.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn belongs_to(store: &Store, key: LogKey, node: NodeId) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"select exists(select 1 from members where job_id = $1 and run_number = $2 and member = $3
                           and node_id = $4) as "belongs!""#,
        key.job.0,
        key.run,
        key.member,
        node.0
    )
    .fetch_one(store.pool())
    .await?)
}

/// Adds bytes at an offset and answers where the agent goes on. What the server has already is skipped; a gap is
/// accepted. Beyond `limit_bytes` the oldest chunks go. Log text is no state change: it leaves no event.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn append(
    store: &Store,
    key: LogKey,
    offset: i64,
    bytes: &[u8],
    limit_bytes: i64,
    now: DateTime<Utc>,
) -> Result<i64, StoreError> {
    let mut tx = store.pool().begin().await?;
    // One writer a log: two copies of one agent's request must not both see the same end.
    sqlx::query!(
        "select pg_advisory_xact_lock(hashtextextended($1, 0))",
        format!("reeve log {} {} {}", key.job, key.run, key.member)
    )
    .fetch_one(&mut *tx)
    .await?;
    let end = sqlx::query_scalar!(
        r#"select start_offset + length(bytes) as "end!" from log_chunks
           where job_id = $1 and run_number = $2 and member = $3 order by start_offset desc limit 1"#,
        key.job.0,
        key.run,
        key.member
    )
    .fetch_optional(&mut *tx)
    .await?
    .unwrap_or(0);
    let known = usize::try_from(end - offset).unwrap_or(0).min(bytes.len());
    let fresh = &bytes[known..];
    let start = offset + i64::try_from(known).unwrap_or(0);
    if fresh.is_empty() {
        return Ok(end.max(start));
    }
    let next = start + i64::try_from(fresh.len()).unwrap_or(0);
    sqlx::query!(
        "insert into log_chunks (job_id, run_number, member, start_offset, bytes, created_at)
         values ($1, $2, $3, $4, $5, $6)",
        key.job.0,
        key.run,
        key.member,
        start,
        fresh,
        now
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "delete from log_chunks where job_id = $1 and run_number = $2 and member = $3
           and start_offset + length(bytes) <= $4",
        key.job.0,
        key.run,
        key.member,
        next - limit_bytes
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(next)
}

/// The number of a job's latest run; `None` when it never started.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn latest_run(store: &Store, job: Uuid) -> Result<Option<i32>, StoreError> {
    Ok(sqlx::query_scalar!("select max(number) from runs where job_id = $1", job)
        .fetch_one(store.pool())
        .await?)
}
