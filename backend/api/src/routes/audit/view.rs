//! An audit event as JSON and as a row of CSV.

use crate::refs::TeamRef;
use crate::routes::events::view::{EventActor, EventSubject};
use chrono::{DateTime, SecondsFormat, Utc};
use reeve_core::csv_text::{Cell, row};
use reeve_core::text_enum;
use reeve_store::audit::checkpoint::Checkpoint;
use reeve_store::audit::list::AuditEvent;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

text_enum! {
    /// What became of an attempt.
    AuditOutcome {
        Allowed = "allowed",
        Denied = "denied",
    }
}

impl AuditOutcome {
    pub(super) const fn of(allowed: bool) -> Self {
        if allowed { Self::Allowed } else { Self::Denied }
    }
}

/// An event of the audit log.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditEventView {
    /// Without gaps, in commit order: a permalink.
    pub(crate) position: i64,
    pub(crate) id: Uuid,
    pub(crate) occurred_at: DateTime<Utc>,
    /// When it got its position.
    pub(crate) sealed_at: DateTime<Utc>,
    pub(crate) actor: EventActor,
    #[schema(example = "quota.changed")]
    pub(crate) action: String,
    pub(crate) subject: EventSubject,
    pub(crate) team: Option<TeamRef>,
    pub(crate) request_id: Option<String>,
    /// The rule that allowed or refused it, where one did.
    pub(crate) rule: Option<String>,
    #[schema(value_type = String)]
    pub(crate) outcome: AuditOutcome,
    #[schema(value_type = Option<Object>)]
    pub(crate) before: Option<Value>,
    #[schema(value_type = Option<Object>)]
    pub(crate) after: Option<Value>,
    /// Of a denied attempt: `unrecorded` = so many like it were counted before, and not written one by one.
    #[schema(value_type = Option<Object>)]
    pub(crate) detail: Option<Value>,
    /// SHA-256 over the hash before and this event, in hexadecimal.
    pub(crate) hash: String,
}

impl From<AuditEvent> for AuditEventView {
    fn from(found: AuditEvent) -> Self {
        let event = found.sealed.event;
        let team = match (event.team_id, found.team_slug, found.team_name) {
            (Some(id), Some(slug), Some(name)) => Some(TeamRef { id: id.0, slug, name }),
            _ => None,
        };
        Self {
            position: found.sealed.position,
            id: event.id.0,
            occurred_at: event.occurred_at,
            sealed_at: found.sealed_at,
            actor: EventActor { kind: event.actor_type, id: event.actor_id, name: event.actor_name },
            action: event.action,
            subject: EventSubject { kind: event.subject_type, id: event.subject_id },
            team,
            request_id: event.request_id,
            rule: event.rule,
            outcome: AuditOutcome::of(event.allowed),
            before: event.before,
            after: event.after,
            detail: event.detail,
            hash: found.sealed.hash,
        }
    }
}

/// A signed "at this position the chain had this hash".
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditCheckpointView {
    pub(crate) position: i64,
    /// Hexadecimal.
    pub(crate) hash: String,
    pub(crate) signed_at: DateTime<Utc>,
    pub(crate) key_id: String,
    /// Ed25519, base64.
    pub(crate) signature: String,
}

impl From<Checkpoint> for AuditCheckpointView {
    fn from(found: Checkpoint) -> Self {
        let Checkpoint { position, hash, signed_at, key_id, signature } = found;
        Self { position, hash, signed_at, key_id, signature }
    }
}

/// The columns of the export for people.
pub(super) const COLUMNS: [&str; 18] = [
    "position",
    "occurred_at",
    "outcome",
    "actor_type",
    "actor_name",
    "actor_id",
    "action",
    "subject_type",
    "subject_id",
    "team",
    "team_id",
    "rule",
    "request_id",
    "before",
    "after",
    "detail",
    "event_id",
    "hash",
];

/// Appends an event as a row.
pub(super) fn csv_row(found: &AuditEvent, out: &mut String) {
    let event = &found.sealed.event;
    let position = found.sealed.position.to_string();
    let at = event.occurred_at.to_rfc3339_opts(SecondsFormat::Micros, true);
    let id = |id: Option<Uuid>| id.map(|id| id.to_string());
    let json = |value: &Option<Value>| value.as_ref().map(ToString::to_string);
    let (actor, subject, team) =
        (id(event.actor_id), id(event.subject_id), id(event.team_id.map(|team| team.0)));
    let (before, after, detail) = (json(&event.before), json(&event.after), json(&event.detail));
    let event_id = event.id.0.to_string();
    let cells = [
        Cell::Number(&position),
        Cell::Text(&at),
        Cell::Text(AuditOutcome::of(event.allowed).as_str()),
        Cell::Text(&event.actor_type),
        Cell::Text(&event.actor_name),
        actor.as_deref().into(),
        Cell::Text(&event.action),
        Cell::Text(&event.subject_type),
        subject.as_deref().into(),
        found.team_slug.as_deref().into(),
        team.as_deref().into(),
        event.rule.as_deref().into(),
        event.request_id.as_deref().into(),
        before.as_deref().into(),
        after.as_deref().into(),
        detail.as_deref().into(),
        Cell::Text(&event_id),
        Cell::Text(&found.sealed.hash),
    ];
    row(out, cells);
}
