//! An event, whole for lists and thin for streams.

use chrono::{DateTime, Utc};
use reeve_store::event::SealedEvent;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// An event of the append-only log.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventView {
    /// Without gaps, in commit order.
    pub(crate) position: i64,
    pub(crate) id: Uuid,
    pub(crate) occurred_at: DateTime<Utc>,
    pub(crate) actor: EventActor,
    #[schema(example = "job.submitted")]
    pub(crate) action: String,
    pub(crate) subject: EventSubject,
    pub(crate) team_id: Option<Uuid>,
    pub(crate) request_id: Option<String>,
    pub(crate) rule: Option<String>,
    /// False: an attempt that was denied.
    pub(crate) allowed: bool,
    #[schema(value_type = Option<Object>)]
    pub(crate) before: Option<Value>,
    #[schema(value_type = Option<Object>)]
    pub(crate) after: Option<Value>,
    #[schema(value_type = Option<Object>)]
    pub(crate) detail: Option<Value>,
    /// SHA-256 over the hash before and this event, in hexadecimal.
    pub(crate) hash: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventActor {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) id: Option<Uuid>,
    pub(crate) name: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventSubject {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) id: Option<Uuid>,
}

impl From<SealedEvent> for EventView {
    fn from(sealed: SealedEvent) -> Self {
        let event = sealed.event;
        Self {
            position: sealed.position,
            id: event.id.0,
            occurred_at: event.occurred_at,
            actor: EventActor { kind: event.actor_type, id: event.actor_id, name: event.actor_name },
            action: event.action,
            subject: EventSubject { kind: event.subject_type, id: event.subject_id },
            team_id: event.team_id.map(|team| team.0),
            request_id: event.request_id,
            rule: event.rule,
            allowed: event.allowed,
            before: event.before,
            after: event.after,
            detail: event.detail,
            hash: sealed.hash,
        }
    }
}

/// What a stream tells: which object to read again.
#[derive(Debug, Serialize)]
pub(super) struct Change<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    id: Option<Uuid>,
    action: &'a str,
    team_id: Option<Uuid>,
}

impl<'a> From<&'a SealedEvent> for Change<'a> {
    fn from(sealed: &'a SealedEvent) -> Self {
        let event = &sealed.event;
        Self {
            kind: &event.subject_type,
            id: event.subject_id,
            action: &event.action,
            team_id: event.team_id.map(|team| team.0),
        }
    }
}
