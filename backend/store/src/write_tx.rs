//! The only way to change something: a transaction that refuses to commit without an event.
//!
//! Events are collected and inserted together just before the commit. Nothing here decides whether an action is
//! allowed; a denied attempt is an event like any other ([`NewEvent::denied`]).

use crate::error::StoreError;
use crate::signal::Signals;
use chrono::{DateTime, Utc};
use reeve_core::id::{EventId, NodeId, TeamId};
use reeve_core::text_enum;
use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgConnection, Postgres, Transaction};
use std::collections::BTreeSet;
use std::sync::Arc;
use uuid::Uuid;

text_enum! {
    /// What sort of actor did something.
    ActorType {
        User = "user",
        Token = "token",
        Node = "node",
        System = "system",
        Anonymous = "anonymous",
    }
}

/// Who does it, under the name that they have now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub kind: ActorType,
    pub id: Option<Uuid>,
    pub name: String,
}

impl Actor {
    /// Reeve itself: `part` is a loop's name, for example `scheduler`.
    #[must_use]
    pub fn system(part: &str) -> Self {
        Self { kind: ActorType::System, id: None, name: part.to_owned() }
    }

    #[must_use]
    pub fn anonymous() -> Self {
        Self { kind: ActorType::Anonymous, id: None, name: "anonymous".to_owned() }
    }

    #[must_use]
    pub fn user(id: impl Into<Uuid>, username: &str) -> Self {
        Self { kind: ActorType::User, id: Some(id.into()), name: username.to_owned() }
    }

    #[must_use]
    pub fn token(id: impl Into<Uuid>, name: &str) -> Self {
        Self { kind: ActorType::Token, id: Some(id.into()), name: name.to_owned() }
    }

    #[must_use]
    pub fn node(id: NodeId, name: &str) -> Self {
        Self { kind: ActorType::Node, id: Some(id.0), name: name.to_owned() }
    }
}

/// What every change in one transaction has in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteContext {
    pub actor: Actor,
    pub request_id: Option<String>,
    /// Read once from the injected clock.
    pub now: DateTime<Utc>,
}

/// A change, as it is to be told afterwards. Build it with [`NewEvent::new`] and the setters.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// `<subject>.<verb>`, for example `job.submitted`.
    pub action: &'static str,
    pub subject_type: &'static str,
    pub subject_id: Option<Uuid>,
    pub team_id: Option<TeamId>,
    pub rule: Option<String>,
    pub allowed: bool,
    pub before: Option<Value>,
    pub after: Option<Value>,
    pub detail: Option<Value>,
}

impl NewEvent {
    #[must_use]
    pub fn new(action: &'static str, subject_type: &'static str, subject_id: impl Into<Uuid>) -> Self {
        Self {
            action,
            subject_type,
            subject_id: Some(subject_id.into()),
            team_id: None,
            rule: None,
            allowed: true,
            before: None,
            after: None,
            detail: None,
        }
    }

    /// An attempt that was refused, with the rule that refused it.
    #[must_use]
    pub fn denied(mut self, rule: &str) -> Self {
        self.allowed = false;
        self.rule = Some(rule.to_owned());
        self
    }

    #[must_use]
    pub fn team(mut self, team: impl Into<Option<TeamId>>) -> Self {
        self.team_id = team.into();
        self
    }

    #[must_use]
    pub fn rule(mut self, rule: &str) -> Self {
        self.rule = Some(rule.to_owned());
        self
    }

    #[must_use]
    pub fn before(mut self, value: Value) -> Self {
        self.before = Some(value);
        self
    }

    #[must_use]
    pub fn after(mut self, value: Value) -> Self {
        self.after = Some(value);
        self
    }

    #[must_use]
    pub fn detail(mut self, value: Value) -> Self {
        self.detail = Some(value);
        self
    }
}

/// An event's row for a `jsonb_to_recordset`, named as its columns.
#[derive(Debug, Serialize)]
pub(crate) struct EventRow<'a> {
    pub(crate) id: EventId,
    pub(crate) ordinal: i32,
    pub(crate) occurred_at: DateTime<Utc>,
    pub(crate) actor_type: ActorType,
    pub(crate) actor_id: Option<Uuid>,
    pub(crate) actor_name: &'a str,
    pub(crate) action: &'a str,
    pub(crate) subject_type: &'a str,
    pub(crate) subject_id: Option<Uuid>,
    pub(crate) team_id: Option<TeamId>,
    pub(crate) request_id: Option<&'a str>,
    pub(crate) rule: Option<&'a str>,
    pub(crate) allowed: bool,
    pub(crate) before: Option<&'a Value>,
    pub(crate) after: Option<&'a Value>,
    pub(crate) detail: Option<&'a Value>,
}

impl<'a> EventRow<'a> {
    /// The `ordinal`-th event of a transaction.
    pub(crate) fn new(context: &'a WriteContext, event: &'a NewEvent, ordinal: i32) -> Self {
        Self {
            id: EventId::mint(context.now),
            ordinal,
            occurred_at: context.now,
            actor_type: context.actor.kind,
            actor_id: context.actor.id,
            actor_name: &context.actor.name,
            action: event.action,
            subject_type: event.subject_type,
            subject_id: event.subject_id,
            team_id: event.team_id,
            request_id: context.request_id.as_deref(),
            rule: event.rule.as_deref(),
            allowed: event.allowed,
            before: event.before.as_ref(),
            after: event.after.as_ref(),
            detail: event.detail.as_ref(),
        }
    }
}

/// Inserts events in their effect's transaction.
pub(crate) async fn write_events(
    connection: &mut PgConnection,
    context: &WriteContext,
    events: &[NewEvent],
) -> Result<(), StoreError> {
    let rows: Vec<EventRow<'_>> =
        events.iter().zip(0..).map(|(event, ordinal)| EventRow::new(context, event, ordinal)).collect();
    sqlx::query!(
        "insert into events (id, ordinal, occurred_at, actor_type, actor_id, actor_name, action, subject_type,
                             subject_id, team_id, request_id, rule, allowed, before, after, detail)
         select id, ordinal, occurred_at, actor_type, actor_id, actor_name, action, subject_type,
                subject_id, team_id, request_id, rule, allowed, before, after, detail
         from jsonb_to_recordset($1::jsonb) as e(
                id uuid, ordinal integer, occurred_at timestamptz, actor_type text, actor_id uuid,
                actor_name text, action text, subject_type text, subject_id uuid, team_id uuid,
                request_id text, rule text, allowed boolean, before jsonb, after jsonb, detail jsonb)",
        Json(rows) as _
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// A transaction that changes things. Dropped without [`WriteTx::commit`], it rolls back.
#[derive(Debug)]
pub struct WriteTx {
    tx: Transaction<'static, Postgres>,
    context: WriteContext,
    signals: Arc<Signals>,
    events: Vec<NewEvent>,
    wake_schedule: bool,
    desired: BTreeSet<NodeId>,
}

impl WriteTx {
    pub(crate) fn new(
        tx: Transaction<'static, Postgres>,
        context: WriteContext,
        signals: Arc<Signals>,
    ) -> Self {
        Self { tx, context, signals, events: Vec::new(), wake_schedule: false, desired: BTreeSet::new() }
    }

    /// The moment of the whole transaction.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.context.now
    }

    #[must_use]
    pub fn context(&self) -> &WriteContext {
        &self.context
    }

    /// Tells of a change. It becomes a row with the commit.
    pub fn record(&mut self, event: NewEvent) {
        self.events.push(event);
    }

    /// After the commit, the scheduler looks again.
    pub fn wake_schedule(&mut self) {
        self.wake_schedule = true;
    }

    /// After the commit, these nodes' agents look again. The caller has bumped their generations.
    pub fn wake_nodes(&mut self, nodes: impl IntoIterator<Item = NodeId>) {
        self.desired.extend(nodes);
    }

    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        &mut self.tx
    }

    /// Writes the events, commits, and wakes whoever should look.
    ///
    /// # Errors
    /// [`StoreError::NoEvent`] when nothing was recorded: the transaction is rolled back.
    pub async fn commit(mut self) -> Result<(), StoreError> {
        if self.events.is_empty() {
            return Err(StoreError::NoEvent);
        }
        write_events(&mut self.tx, &self.context, &self.events).await?;
        self.tx.commit().await?;
        self.signals.wake_sealer();
        if self.wake_schedule {
            self.signals.wake_schedule();
        }
        self.signals.desired_changed(self.desired);
        Ok(())
    }

    /// Undoes everything at once, instead of when the connection is next used.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn rollback(self) -> Result<(), StoreError> {
        Ok(self.tx.rollback().await?)
    }
}
