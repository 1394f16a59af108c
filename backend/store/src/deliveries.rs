//! Messages on their way: what is due, what became of each attempt, and what a receiver was sent.
//!
//! Attempts are no changes of what Reeve governs, so they leave no event; that a message is given up, or a webhook
//! disabled, does. This module refuses to send anything and to decide when to try again.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::{RowId, TeamId};
use reeve_core::text_enum;
use uuid::Uuid;

text_enum! {
    /// What became of a message.
    DeliveryState {
        Pending = "pending",
        Delivered = "delivered",
        /// Given up after the last attempt.
        Failed = "failed",
        /// Its webhook was disabled before.
        Cancelled = "cancelled",
    }
}

/// A message to a webhook.
#[derive(Debug, Clone)]
pub struct Delivery {
    pub id: Uuid,
    pub message_id: String,
    pub event_type: String,
    pub event_position: Option<i64>,
    pub body: String,
    pub state: String,
    pub attempts: i32,
    pub next_attempt_at: Option<DateTime<Utc>>,
    pub last_status: Option<i32>,
    pub last_error: Option<String>,
    pub last_attempt_at: Option<DateTime<Utc>>,
    pub delivered_at: Option<DateTime<Utc>>,
    pub resend_of: Option<Uuid>,
    pub created_at: DateTime<Utc>,
}

/// One attempt.
#[derive(Debug, Clone)]
pub struct Attempt {
    pub number: i32,
    pub at: DateTime<Utc>,
    pub status: Option<i32>,
    pub error: Option<String>,
    pub took_ms: i32,
    pub response_excerpt: String,
}

/// A message to be.
#[derive(Debug, Clone)]
pub struct NewDelivery {
    pub webhook_id: Option<Uuid>,
    pub user_id: Option<Uuid>,
    pub message_id: String,
    pub event_position: Option<i64>,
    pub event_type: String,
    pub body: String,
    pub resend_of: Option<Uuid>,
}

macro_rules! select_deliveries {
    ($rest:literal $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            Delivery,
            "select d.id, d.message_id, d.event_type, d.event_position, d.body, d.state, d.attempts, "
                + "d.next_attempt_at, d.last_status, d.last_error, d.last_attempt_at, d.delivered_at, d.resend_of, "
                + "d.created_at from deliveries d " + $rest
            $(, $argument)*
        )
    };
}

/// A webhook's messages, newest first, after a key; in these states, or all when empty.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    webhook: Uuid,
    states: &[String],
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Delivery>, StoreError> {
    Ok(select_deliveries!(
        "where d.webhook_id = $1 and (cardinality($2::text[]) = 0 or d.state = any($2))
           and ($3::uuid is null or d.id < $3) order by d.id desc limit $4",
        webhook,
        states,
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// # Errors
/// [`StoreError::NotFound`].
pub async fn find(store: &Store, webhook: Uuid, id: Uuid) -> Result<Delivery, StoreError> {
    Ok(select_deliveries!("where d.webhook_id = $1 and d.id = $2", webhook, id)
        .fetch_one(store.pool())
        .await?)
}

/// Its attempts, in their order.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn attempts(store: &Store, id: Uuid) -> Result<Vec<Attempt>, StoreError> {
    Ok(sqlx::query_as!(
        Attempt,
        "select number, at, status, error, took_ms, response_excerpt from delivery_attempts
         where delivery_id = $1 order by number",
        id
    )
    .fetch_all(store.pool())
    .await?)
}

/// Puts a message in line by hand: a test, or one that is sent once more.
///
/// # Errors
/// [`StoreError::Reference`] for a webhook that is gone.
pub async fn add(
    tx: &mut WriteTx,
    team: Option<Uuid>,
    action: &'static str,
    new: NewDelivery,
) -> Result<Delivery, StoreError> {
    let now = tx.now();
    let id = RowId::mint(now).0;
    insert(tx, id, &new, now).await?;
    let webhook = new.webhook_id.ok_or(StoreError::NotFound)?;
    let event = NewEvent::new(action, "webhook", webhook).team(team.map(TeamId));
    tx.record(event.detail(serde_json::json!({"delivery_id": id, "resend_of": new.resend_of})));
    Ok(select_deliveries!("where d.id = $1", id).fetch_one(tx.connection()).await?)
}

async fn insert(tx: &mut WriteTx, id: Uuid, new: &NewDelivery, now: DateTime<Utc>) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into deliveries (id, webhook_id, user_id, message_id, event_position, event_type, body, state,
                                 next_attempt_at, resend_of, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, $9, $8)",
        id,
        new.webhook_id,
        new.user_id,
        new.message_id,
        new.event_position,
        new.event_type,
        new.body,
        now,
        new.resend_of
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// A message that is to be sent now, with what is needed for it.
#[derive(Clone)]
pub struct Due {
    pub id: Uuid,
    pub webhook_id: Option<Uuid>,
    pub message_id: String,
    pub body: String,
    pub attempts: i32,
    /// Of a webhook.
    pub kind: Option<String>,
    pub url: Option<String>,
    pub secret: Option<String>,
    pub previous_secret: Option<String>,
    pub previous_secret_until: Option<DateTime<Utc>>,
    /// Of a person.
    pub email: Option<String>,
}

impl std::fmt::Debug for Due {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Due").field("id", &self.id).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Takes messages that are due: nobody else does before `lease` is over. No receiver gets more than `each` at once, so that
/// a slow one holds up only itself.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn claim(
    store: &Store,
    now: DateTime<Utc>,
    lease: TimeDelta,
    most: i64,
    each: i64,
) -> Result<Vec<Due>, StoreError> {
    Ok(sqlx::query_as!(
        Due,
        r#"with ranked as (
             select id, row_number() over (partition by webhook_id, user_id order by next_attempt_at, id) as place
             from deliveries where state = 'pending' and next_attempt_at <= $1
           ), chosen as (
             select d.id from deliveries d join ranked r on r.id = d.id
             where r.place <= $4 and d.state = 'pending' and d.next_attempt_at <= $1
             order by d.next_attempt_at, d.id limit $3 for update of d skip locked
           ), taken as (
             update deliveries d set next_attempt_at = $2 from chosen c where d.id = c.id returning d.*
           )
           select d.id as "id!", d.webhook_id, d.message_id as "message_id!", d.body as "body!", d.attempts as "attempts!",
                  w.kind as "kind?", w.url as "url?", w.secret as "secret?", w.previous_secret as "previous_secret?",
                  w.previous_secret_until as "previous_secret_until?", u.email as "email?"
           from taken d left join webhooks w on w.id = d.webhook_id left join users u on u.id = d.user_id"#,
        now,
        now + lease,
        most,
        each
    )
    .fetch_all(store.pool())
    .await?)
}

/// What became of an attempt.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub status: Option<i32>,
    /// None = delivered.
    pub error: Option<String>,
    pub took_ms: i32,
    pub response_excerpt: String,
    /// When to try again; `None` = never.
    pub again_at: Option<DateTime<Utc>>,
}

/// Writes an attempt down. One that was cancelled meanwhile stays so.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn attempted(
    store: &Store,
    due: &Due,
    at: DateTime<Utc>,
    outcome: &Outcome,
) -> Result<(), StoreError> {
    let number = due.attempts + 1;
    let state = match (&outcome.error, outcome.again_at) {
        (None, _) => DeliveryState::Delivered,
        (Some(_), Some(_)) => DeliveryState::Pending,
        (Some(_), None) => DeliveryState::Failed,
    };
    let mut tx = store.pool().begin().await?;
    sqlx::query!(
        "insert into delivery_attempts (delivery_id, number, at, status, error, took_ms, response_excerpt)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
        due.id,
        number,
        at,
        outcome.status,
        outcome.error,
        outcome.took_ms,
        outcome.response_excerpt
    )
    .execute(&mut *tx)
    .await?;
    // The webhook before its deliveries, as where it is disabled: two orders would be a deadlock.
    if let Some(webhook) = due.webhook_id {
        // Not at each success: the row is read by everybody who sends.
        sqlx::query!(
            "update webhooks set failing_since = case when $2 then null else coalesce(failing_since, $3) end,
                    last_delivered_at = case when $2 then $3 else last_delivered_at end
             where id = $1 and (($2 and (failing_since is not null or last_delivered_at is null or last_delivered_at < $4))
                            or (not $2 and failing_since is null))",
            webhook,
            outcome.error.is_none(),
            at,
            at - TimeDelta::seconds(10)
        )
        .execute(&mut *tx)
        .await?;
    }
    sqlx::query!(
        "update deliveries set attempts = greatest(attempts, $2), last_status = $3, last_error = $4, last_attempt_at = $5,
                state = case when state = 'pending' or $6 = 'delivered' then $6 else state end,
                next_attempt_at = case when state = 'pending' and $6 = 'pending' then $7::timestamptz end,
                delivered_at = case when $6 = 'delivered' then $5 else delivered_at end
         where id = $1",
        due.id,
        number,
        outcome.status,
        outcome.error,
        at,
        state.as_str(),
        outcome.again_at
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(())
}

/// Tells of a message that is given up.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn given_up(
    tx: &mut WriteTx,
    webhook: Uuid,
    delivery: Uuid,
    error: &str,
) -> Result<(), StoreError> {
    let team = sqlx::query_scalar!("select team_id from webhooks where id = $1", webhook)
        .fetch_optional(tx.connection())
        .await?
        .flatten();
    let event = NewEvent::new("webhook.delivery_failed", "webhook", webhook).team(team.map(TeamId));
    tx.record(event.detail(serde_json::json!({"delivery_id": delivery, "error": error})));
    Ok(())
}

/// When the next message is due.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn next_due(store: &Store) -> Result<Option<DateTime<Utc>>, StoreError> {
    Ok(sqlx::query_scalar!("select min(next_attempt_at) from deliveries where state = 'pending'")
        .fetch_one(store.pool())
        .await?)
}

/// Forgets messages that are done, from before a moment.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn expire(store: &Store, before: DateTime<Utc>, limit: i64) -> Result<u64, StoreError> {
    let done = sqlx::query!(
        "delete from deliveries where id in
           (select id from deliveries where state <> 'pending' and created_at < $1 limit $2)",
        before,
        limit
    )
    .execute(store.pool())
    .await?;
    Ok(done.rows_affected())
}
