//! What people ask of the log: events by who, what, on what, when and with what outcome.

use crate::connect::Store;
use crate::error::StoreError;
use crate::event::{EventBody, SealedEvent};
use chrono::{DateTime, Utc};
use reeve_core::id::TeamId;
use serde_json::Value;
use uuid::Uuid;

/// Which events; `None` = all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub actor_id: Option<Uuid>,
    /// As it was called then.
    pub actor_name: Option<String>,
    /// One action, or with a final `*` all that begin so.
    pub action: Option<String>,
    pub subject_type: Option<String>,
    pub subject_id: Option<Uuid>,
    /// Only events of these teams.
    pub team_ids: Option<Vec<TeamId>>,
    pub from: Option<DateTime<Utc>>,
    /// Exclusive.
    pub to: Option<DateTime<Utc>>,
    pub allowed: Option<bool>,
    pub request_id: Option<String>,
}

impl AuditFilter {
    /// Whether it leaves anything out.
    #[must_use]
    pub fn narrows(&self) -> bool {
        *self != Self::default()
    }

    /// The action as it is compared: exactly, or by its beginning.
    fn action(&self) -> (Option<&str>, Option<String>) {
        match self.action.as_deref() {
            Some(text) => match text.strip_suffix('*') {
                Some(start) => (
                    None,
                    Some(format!("{}%", start.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))),
                ),
                None => (Some(text), None),
            },
            None => (None, None),
        }
    }
}

/// An event with what people want to see beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEvent {
    pub sealed: SealedEvent,
    pub sealed_at: DateTime<Utc>,
    pub team_slug: Option<String>,
    pub team_name: Option<String>,
}

macro_rules! select_audit {
    ($filter:expr, $rest:literal, $($argument:expr),* $(,)?) => {{
        let teams: Option<Vec<Uuid>> =
            $filter.team_ids.as_ref().map(|teams| teams.iter().map(|team| team.0).collect());
        let (action, like) = $filter.action();
        sqlx::query_as!(
            Row,
            r#"select s.position, s.hash, s.sealed_at, e.id, e.occurred_at, e.actor_type, e.actor_id, e.actor_name, e.action,
                      e.subject_type, e.subject_id, e.team_id, e.request_id, e.rule, e.allowed, e.before, e.after,
                      e.detail, t.slug as "team_slug?", t.name as "team_name?"
               from event_seals s join events e on e.id = s.event_id left join teams t on t.id = e.team_id
               where ($3::uuid is null or e.actor_id = $3) and ($4::text is null or e.actor_name = $4)
                 and ($5::text is null or e.action = $5) and ($6::text is null or e.action like $6)
                 and ($7::text is null or e.subject_type = $7) and ($8::uuid is null or e.subject_id = $8)
                 and ($9::uuid[] is null or e.team_id = any($9))
                 and ($10::timestamptz is null or e.occurred_at >= $10)
                 and ($11::timestamptz is null or e.occurred_at < $11)
                 and ($12::boolean is null or e.allowed = $12)
                 and ($13::text is null or e.request_id = $13) and "# + $rest,
            $($argument,)*
            $filter.actor_id,
            $filter.actor_name,
            action,
            like,
            $filter.subject_type,
            $filter.subject_id,
            teams.as_deref(),
            $filter.from,
            $filter.to,
            $filter.allowed,
            $filter.request_id
        )
    }};
}

/// Before `position` (`None` = the end), newest first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn before(
    store: &Store,
    position: Option<i64>,
    filter: &AuditFilter,
    limit: i64,
) -> Result<Vec<AuditEvent>, StoreError> {
    let rows = select_audit!(
        filter,
        "s.position < $1 order by s.position desc limit $2",
        position.unwrap_or(i64::MAX),
        limit
    )
    .fetch_all(store.pool())
    .await?;
    Ok(rows.into_iter().map(AuditEvent::from).collect())
}

/// After `position`, oldest first: for exports.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn after(
    store: &Store,
    position: i64,
    filter: &AuditFilter,
    limit: i64,
) -> Result<Vec<AuditEvent>, StoreError> {
    let rows = select_audit!(filter, "s.position > $1 order by s.position limit $2", position, limit)
        .fetch_all(store.pool())
        .await?;
    Ok(rows.into_iter().map(AuditEvent::from).collect())
}

/// The event at a position.
///
/// # Errors
/// [`StoreError::NotFound`] beyond the end; [`StoreError::Unavailable`].
pub async fn at(store: &Store, position: i64) -> Result<AuditEvent, StoreError> {
    let filter = AuditFilter::default();
    let mut found = after(store, position.saturating_sub(1), &filter, 1).await?;
    found.pop().filter(|event| event.sealed.position == position).ok_or(StoreError::NotFound)
}

struct Row {
    position: i64,
    hash: Vec<u8>,
    sealed_at: DateTime<Utc>,
    id: Uuid,
    occurred_at: DateTime<Utc>,
    actor_type: String,
    actor_id: Option<Uuid>,
    actor_name: String,
    action: String,
    subject_type: String,
    subject_id: Option<Uuid>,
    team_id: Option<Uuid>,
    request_id: Option<String>,
    rule: Option<String>,
    allowed: bool,
    before: Option<Value>,
    after: Option<Value>,
    detail: Option<Value>,
    team_slug: Option<String>,
    team_name: Option<String>,
}

impl From<Row> for AuditEvent {
    fn from(row: Row) -> Self {
        let event = EventBody {
            id: row.id.into(),
            occurred_at: row.occurred_at,
            actor_type: row.actor_type,
            actor_id: row.actor_id,
            actor_name: row.actor_name,
            action: row.action,
            subject_type: row.subject_type,
            subject_id: row.subject_id,
            team_id: row.team_id.map(TeamId),
            request_id: row.request_id,
            rule: row.rule,
            allowed: row.allowed,
            before: row.before,
            after: row.after,
            detail: row.detail,
        };
        Self {
            sealed: SealedEvent { position: row.position, hash: hex::encode(row.hash), event },
            sealed_at: row.sealed_at,
            team_slug: row.team_slug,
            team_name: row.team_name,
        }
    }
}
