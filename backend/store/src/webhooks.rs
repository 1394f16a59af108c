//! Where events are sent: webhooks of programs and chat robots, of a team or of the whole installation.
//!
//! Secrets are handed out only to whoever signs. This module refuses to send anything.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::{RowId, TeamId, UserId};
use reeve_core::text_enum;
use serde_json::{Value, json};
use uuid::Uuid;

text_enum! {
    /// Who reads it.
    WebhookKind {
        /// A program: Standard Webhooks and CloudEvents.
        Webhook = "webhook",
        Feishu = "feishu",
        Dingtalk = "dingtalk",
        Wecom = "wecom",
        Slack = "slack",
    }
}

text_enum! {
    /// Why nothing is sent any more.
    DisabledReason {
        /// The receiver said 410.
        Gone = "gone",
        ByHand = "by_hand",
    }
}

/// A webhook with its team's and maker's names.
#[derive(Clone)]
pub struct Webhook {
    pub id: Uuid,
    pub team_id: Option<Uuid>,
    pub team_slug: Option<String>,
    pub team_name: Option<String>,
    pub name: String,
    pub kind: String,
    pub url: String,
    pub secret: Option<String>,
    pub previous_secret: Option<String>,
    pub previous_secret_until: Option<DateTime<Utc>>,
    pub event_types: Vec<String>,
    pub locale: String,
    pub state: String,
    pub disabled_reason: Option<String>,
    pub failing_since: Option<DateTime<Utc>>,
    pub last_delivered_at: Option<DateTime<Utc>>,
    pub created_by: Option<Uuid>,
    pub created_by_username: Option<String>,
    pub created_by_name: Option<String>,
    pub version: i64,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("id", &self.id).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// What somebody says of a webhook.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookTerms {
    pub name: String,
    pub url: String,
    pub secret: Option<String>,
    pub event_types: Vec<String>,
    pub locale: String,
    pub state: String,
    pub disabled_reason: Option<String>,
}

impl std::fmt::Debug for WebhookTerms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookTerms").field("name", &self.name).finish_non_exhaustive()
    }
}

impl WebhookTerms {
    /// Without what is secret: a robot's address is.
    fn as_json(&self) -> Value {
        json!({
            "name": self.name, "has_secret": self.secret.is_some(), "event_types": self.event_types,
            "locale": self.locale, "state": self.state,
        })
    }
}

impl Webhook {
    #[must_use]
    pub fn terms(&self) -> WebhookTerms {
        WebhookTerms {
            name: self.name.clone(),
            url: self.url.clone(),
            secret: self.secret.clone(),
            event_types: self.event_types.clone(),
            locale: self.locale.clone(),
            state: self.state.clone(),
            disabled_reason: self.disabled_reason.clone(),
        }
    }
}

macro_rules! select_webhooks {
    ($rest:literal $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            Webhook,
            "select w.id, w.team_id, t.slug as \"team_slug?\", t.name as \"team_name?\", w.name, w.kind, w.url, "
                + "w.secret, w.previous_secret, w.previous_secret_until, w.event_types, w.locale, w.state, "
                + "w.disabled_reason, w.failing_since, w.last_delivered_at, w.created_by, "
                + "u.username as \"created_by_username?\", u.display_name as \"created_by_name?\", w.version, "
                + "w.created_at, w.updated_at from webhooks w left join teams t on t.id = w.team_id "
                + "left join users u on u.id = w.created_by " + $rest
            $(, $argument)*
        )
    };
}

/// Newest first, after a key: of one team, of several, or all with `None`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    teams: Option<&[Uuid]>,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Webhook>, StoreError> {
    Ok(select_webhooks!(
        "where ($1::uuid[] is null or w.team_id = any($1)) and ($2::uuid is null or w.id < $2)
         order by w.id desc limit $3",
        teams,
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// # Errors
/// [`StoreError::NotFound`].
pub async fn find(store: &Store, id: Uuid) -> Result<Webhook, StoreError> {
    Ok(select_webhooks!("where w.id = $1", id).fetch_one(store.pool()).await?)
}

/// By id, locked.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn lock(tx: &mut WriteTx, id: Uuid) -> Result<Webhook, StoreError> {
    Ok(select_webhooks!("where w.id = $1 for update of w", id).fetch_one(tx.connection()).await?)
}

/// How many a team has; the installation with `None`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn count(tx: &mut WriteTx, team: Option<TeamId>) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar!(
        "select count(*) from webhooks where team_id is not distinct from $1",
        team.map(|team| team.0)
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(count.unwrap_or(0))
}

/// # Errors
/// [`StoreError::Reference`] for a team that is gone.
pub async fn create(
    tx: &mut WriteTx,
    team: Option<TeamId>,
    kind: WebhookKind,
    by: UserId,
    terms: &WebhookTerms,
) -> Result<Webhook, StoreError> {
    let now = tx.now();
    let id = RowId::mint(now).0;
    sqlx::query!(
        "insert into webhooks (id, team_id, name, kind, url, secret, event_types, locale, state, disabled_reason,
                               created_by, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)",
        id,
        team.map(|team| team.0),
        terms.name,
        kind.as_str(),
        terms.url,
        terms.secret,
        &terms.event_types,
        terms.locale,
        terms.state,
        terms.disabled_reason,
        by.0,
        now
    )
    .execute(tx.connection())
    .await?;
    let event = NewEvent::new("webhook.created", "webhook", id).team(team);
    let mut after = terms.as_json();
    after["kind"] = json!(kind);
    tx.record(event.after(after));
    lock(tx, id).await
}

/// Writes edited terms back. What is pending for a webhook that is disabled is cancelled.
///
/// # Errors
/// [`StoreError::Conflict`] when it is not the version that was read.
pub async fn save(tx: &mut WriteTx, before: &Webhook, terms: &WebhookTerms) -> Result<Webhook, StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update webhooks set name = $3, url = $4, secret = $5, event_types = $6, locale = $7, state = $8,
                disabled_reason = $9, version = version + 1, updated_at = $10,
                failing_since = case when $8 = 'enabled' and state = 'disabled' then null else failing_since end
         where id = $1 and version = $2",
        before.id,
        before.version,
        terms.name,
        terms.url,
        terms.secret,
        &terms.event_types,
        terms.locale,
        terms.state,
        terms.disabled_reason,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    if terms.state == "disabled" {
        cancel_pending(tx, before.id).await?;
    }
    let event = NewEvent::new("webhook.edited", "webhook", before.id).team(before.team_id.map(TeamId));
    let event = event.before(before.terms().as_json()).after(terms.as_json());
    let changed =
        json!({"url_changed": before.url != terms.url, "secret_changed": before.secret != terms.secret});
    tx.record(event.detail(changed));
    lock(tx, before.id).await
}

/// A new secret; the one before signs too until `until`.
///
/// # Errors
/// [`StoreError::Conflict`] when it is not the version that was read.
pub async fn rotate_secret(
    tx: &mut WriteTx,
    before: &Webhook,
    secret: &str,
    until: DateTime<Utc>,
) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update webhooks set secret = $3, previous_secret = secret, previous_secret_until = $4, version = version + 1,
                updated_at = $5 where id = $1 and version = $2",
        before.id,
        before.version,
        secret,
        until,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    let event =
        NewEvent::new("webhook.secret_rotated", "webhook", before.id).team(before.team_id.map(TeamId));
    tx.record(event.detail(json!({"previous_valid_until": until})));
    Ok(())
}

/// Deletes a webhook with its deliveries.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn delete(tx: &mut WriteTx, webhook: &Webhook) -> Result<(), StoreError> {
    let done =
        sqlx::query!("delete from webhooks where id = $1", webhook.id).execute(tx.connection()).await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::NotFound);
    }
    let event = NewEvent::new("webhook.deleted", "webhook", webhook.id).team(webhook.team_id.map(TeamId));
    tx.record(event.before(webhook.terms().as_json()));
    Ok(())
}

/// The receiver says that it is gone: nothing is sent any more. One that is disabled already stays so.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn disable_gone(tx: &mut WriteTx, id: Uuid) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update webhooks set state = 'disabled', disabled_reason = 'gone', version = version + 1, updated_at = $2
         where id = $1 and state = 'enabled' returning team_id, name",
        id,
        now
    )
    .fetch_optional(tx.connection())
    .await?;
    cancel_pending(tx, id).await?;
    if let Some(row) = done {
        let event = NewEvent::new("webhook.disabled", "webhook", id).team(row.team_id.map(TeamId));
        tx.record(event.after(json!({"state": "disabled", "disabled_reason": "gone"})));
    }
    Ok(())
}

async fn cancel_pending(tx: &mut WriteTx, id: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        "update deliveries set state = 'cancelled', next_attempt_at = null where webhook_id = $1 and state = 'pending'",
        id
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
