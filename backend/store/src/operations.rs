//! Long work that people wait for: asked for, done by a loop of any server, its result kept in chunks until it expires.
//!
//! Whoever works at one says so again and again; one that fell silent is begun anew by another. This module refuses to know
//! what the work is.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{Actor, NewEvent, WriteContext, WriteTx, write_events};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::{RowId, TeamId, UserId};
use reeve_core::text_enum;
use serde_json::{Value, json};
use uuid::Uuid;

/// Silence after which another server takes over.
pub const SILENCE: TimeDelta = TimeDelta::seconds(60);
/// How long a result is kept.
pub const KEPT: TimeDelta = TimeDelta::days(7);
/// After so many beginnings it has failed.
pub const MOST_ATTEMPTS: i32 = 3;

text_enum! {
    OperationKind {
        UsageExport = "usage_export",
    }
}

text_enum! {
    OperationState {
        Queued = "queued",
        Running = "running",
        Succeeded = "succeeded",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl OperationState {
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

/// An operation.
#[derive(Debug, Clone)]
pub struct Operation {
    pub id: Uuid,
    pub kind: OperationKind,
    pub params: Value,
    /// What its maker could see; `None` = everything.
    pub teams: Option<Vec<TeamId>>,
    pub state: OperationState,
    pub attempt: i32,
    pub cancel_asked: bool,
    pub done_rows: i64,
    pub total_rows: Option<i64>,
    pub error: Option<String>,
    pub file: Option<ResultFile>,
    pub created_by: Uuid,
    pub username: String,
    pub display_name: String,
    pub created_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub finished_at: Option<DateTime<Utc>>,
    pub expires_at: Option<DateTime<Utc>>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFile {
    pub name: String,
    pub content_type: String,
    pub bytes: i64,
}

struct Row {
    id: Uuid,
    kind: String,
    params: Value,
    team_ids: Option<Vec<Uuid>>,
    state: String,
    attempt: i32,
    cancel_asked: bool,
    done_rows: i64,
    total_rows: Option<i64>,
    error: Option<String>,
    file_name: Option<String>,
    content_type: Option<String>,
    result_bytes: Option<i64>,
    created_by: Uuid,
    username: String,
    display_name: String,
    created_at: DateTime<Utc>,
    started_at: Option<DateTime<Utc>>,
    finished_at: Option<DateTime<Utc>>,
    expires_at: Option<DateTime<Utc>>,
}

impl TryFrom<Row> for Operation {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let file = match (row.file_name, row.content_type, row.result_bytes) {
            (Some(name), Some(content_type), Some(bytes)) => Some(ResultFile { name, content_type, bytes }),
            _ => None,
        };
        Ok(Self {
            id: row.id,
            kind: row.kind.parse()?,
            params: row.params,
            teams: row.team_ids.map(|ids| ids.into_iter().map(TeamId).collect()),
            state: row.state.parse()?,
            attempt: row.attempt,
            cancel_asked: row.cancel_asked,
            done_rows: row.done_rows,
            total_rows: row.total_rows,
            error: row.error,
            file,
            created_by: row.created_by,
            username: row.username,
            display_name: row.display_name,
            created_at: row.created_at,
            started_at: row.started_at,
            finished_at: row.finished_at,
            expires_at: row.expires_at,
        })
    }
}

macro_rules! select_operations {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            Row,
            "select o.id, o.kind, o.params, o.team_ids, o.state, o.attempt, o.cancel_asked, o.done_rows, o.total_rows, o.error, "
                + "o.file_name, o.content_type, o.result_bytes, o.created_by, u.username, u.display_name, o.created_at, "
                + "o.started_at, o.finished_at, o.expires_at from operations o join users u on u.id = o.created_by " + $rest
            $(, $argument)*
        )
    };
}

/// One of them.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn find(store: &Store, id: Uuid) -> Result<Operation, StoreError> {
    select_operations!("where o.id = $1", id).fetch_one(store.pool()).await?.try_into()
}

/// Newest first; `by` = only this person's.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    by: Option<UserId>,
    before: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Operation>, StoreError> {
    let rows = select_operations!(
        "where ($1::uuid is null or o.created_by = $1) and ($2::uuid is null or o.id < $2) order by o.id desc limit $3",
        by.map(|by| by.0),
        before,
        limit
    )
    .fetch_all(store.pool())
    .await?;
    rows.into_iter().map(Operation::try_from).collect()
}

/// How many of a person's are not over.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn live_of(store: &Store, by: UserId) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"select count(*) as "count!" from operations where created_by = $1 and state in ('queued', 'running')"#,
        by.0
    )
    .fetch_one(store.pool())
    .await?)
}

/// Asks for one.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn create(
    tx: &mut WriteTx,
    kind: OperationKind,
    params: &Value,
    teams: Option<&[TeamId]>,
    by: UserId,
) -> Result<Uuid, StoreError> {
    let id = RowId::mint(tx.now()).0;
    let teams: Option<Vec<Uuid>> = teams.map(|teams| teams.iter().map(|team| team.0).collect());
    sqlx::query!(
        "insert into operations (id, kind, params, team_ids, created_by, created_at) values ($1, $2, $3, $4, $5, $6)",
        id,
        kind.as_str(),
        params,
        teams.as_deref(),
        by.0,
        tx.now()
    )
    .execute(tx.connection())
    .await?;
    tx.record(
        NewEvent::new("operation.asked", "operation", id).after(json!({"kind": kind, "params": params})),
    );
    Ok(id)
}

/// Asks whoever works at it to stop; one that nobody has begun is over at once.
///
/// # Errors
/// [`StoreError::Conflict`] when it is over.
pub async fn cancel(tx: &mut WriteTx, id: Uuid) -> Result<(), StoreError> {
    let now = tx.now();
    let asked = sqlx::query!(
        "update operations set cancel_asked = true,
                state = case when state = 'queued' then 'cancelled' else state end,
                finished_at = case when state = 'queued' then $2::timestamptz end,
                expires_at = case when state = 'queued' then $3::timestamptz end
         where id = $1 and state in ('queued', 'running')",
        id,
        now,
        now + KEPT
    )
    .execute(tx.connection())
    .await?;
    if asked.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    tx.record(NewEvent::new("operation.cancelled", "operation", id));
    Ok(())
}

/// Takes the oldest that waits, or whose worker fell silent; what that one had written is thrown away.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn claim(store: &Store, now: DateTime<Utc>) -> Result<Option<Operation>, StoreError> {
    let mut tx = store.pool().begin().await?;
    let id = sqlx::query_scalar!(
        "select id from operations
         where state = 'queued' or (state = 'running' and beat_at < $1)
         order by id limit 1 for update skip locked",
        now - SILENCE
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(id) = id else { return Ok(None) };
    sqlx::query!("delete from operation_chunks where operation_id = $1", id).execute(&mut *tx).await?;
    sqlx::query!(
        "update operations set state = 'running', attempt = attempt + 1, done_rows = 0, total_rows = null,
                started_at = coalesce(started_at, $2), beat_at = $2 where id = $1",
        id,
        now
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    find(store, id).await.map(Some)
}

/// Says how far the work of this attempt is. False: stop, it was cancelled or another attempt has begun.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn progress(
    store: &Store,
    operation: &Operation,
    done_rows: i64,
    total_rows: i64,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let cancelled = sqlx::query_scalar!(
        "update operations set done_rows = $3, total_rows = $4, beat_at = $5
         where id = $1 and attempt = $2 and state = 'running' returning cancel_asked",
        operation.id,
        operation.attempt,
        done_rows,
        total_rows,
        now
    )
    .fetch_optional(store.pool())
    .await?;
    Ok(cancelled == Some(false))
}

/// Keeps a piece of the result.
///
/// # Errors
/// [`StoreError::Duplicate`] when another attempt has written it.
pub async fn add_chunk(store: &Store, id: Uuid, seq: i32, bytes: &[u8]) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into operation_chunks (operation_id, seq, bytes) values ($1, $2, $3)",
        id,
        seq,
        bytes
    )
    .execute(store.pool())
    .await?;
    Ok(())
}

/// A piece of the result; none after the last.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn chunk(store: &Store, id: Uuid, seq: i32) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(sqlx::query_scalar!(
        "select bytes from operation_chunks where operation_id = $1 and seq = $2",
        id,
        seq
    )
    .fetch_optional(store.pool())
    .await?)
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Succeeded(ResultFile),
    Failed(String),
    Cancelled,
}

/// Ends it; an attempt that was overtaken ends nothing.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn finish(
    store: &Store,
    operation: &Operation,
    end: &End,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let (state, file, error) = match end {
        End::Succeeded(file) => (OperationState::Succeeded, Some(file), None),
        End::Failed(why) => (OperationState::Failed, None, Some(why.as_str())),
        End::Cancelled => (OperationState::Cancelled, None, None),
    };
    let mut tx = store.pool().begin().await?;
    let ended = sqlx::query!(
        "update operations set state = $3, error = $4, file_name = $5, content_type = $6, result_bytes = $7,
                finished_at = $8, expires_at = $9 where id = $1 and attempt = $2 and state = 'running'",
        operation.id,
        operation.attempt,
        state.as_str(),
        error,
        file.map(|file| file.name.as_str()),
        file.map(|file| file.content_type.as_str()),
        file.map(|file| file.bytes),
        now,
        now + KEPT
    )
    .execute(&mut *tx)
    .await?;
    if ended.rows_affected() == 1 {
        if file.is_none() {
            sqlx::query!("delete from operation_chunks where operation_id = $1", operation.id)
                .execute(&mut *tx)
                .await?;
        }
        let event = NewEvent::new("operation.ended", "operation", operation.id)
            .after(json!({"state": state, "error": error}));
        let context = WriteContext { actor: Actor::system("operations"), request_id: None, now };
        write_events(&mut tx, &context, &[event]).await?;
    }
    tx.commit().await?;
    store.signals().wake_sealer();
    Ok(())
}

/// Forgets what has expired, with its result. Answers how many.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn expire(store: &Store, now: DateTime<Utc>, limit: i64) -> Result<u64, StoreError> {
    let gone = sqlx::query!(
        "delete from operations where id in (select id from operations where expires_at < $1 order by expires_at limit $2)",
        now,
        limit
    )
    .execute(store.pool())
    .await?;
    Ok(gone.rows_affected())
}
