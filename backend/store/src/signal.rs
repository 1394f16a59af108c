//! "Look again": what wakes loops and long polls, in this process at once and in other servers by NOTIFY.
//!
//! A signal carries no truth, only the hint that there may be news; whoever misses one finds out at its next
//! timer. NOTIFY is sent apart from the writing transaction, because PostgreSQL holds one global lock from a
//! notifying transaction's commit until its WAL is flushed, which would line up all writers behind each other.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::DateTime;
use reeve_core::id::{NodeId, RowId};
use sqlx::postgres::PgListener;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, broadcast, watch};
use uuid::Uuid;

const SCHEDULE: &str = "reeve_schedule";
const EVENTS: &str = "reeve_events";
const DESIRED: &str = "reeve_desired";
/// A payload must stay below 8,000 bytes.
const MOST_NODES_NAMED: usize = 200;

/// Between two NOTIFYs: what is posted meanwhile goes together, or each change would send one.
const REST: Duration = Duration::from_millis(20);

/// Nodes whose desired state has a new generation; `None` = too many to name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesiredChanged(pub Option<BTreeSet<NodeId>>);

impl DesiredChanged {
    /// Whether `node` should look.
    #[must_use]
    pub fn concerns(&self, node: NodeId) -> bool {
        self.0.as_ref().is_none_or(|nodes| nodes.contains(&node))
    }
}

/// The process's switchboard.
#[derive(Debug)]
pub struct Signals {
    /// Names this process in payloads, so that it ignores its own echo.
    instance: Uuid,
    schedule: watch::Sender<u64>,
    unsealed: watch::Sender<u64>,
    events: watch::Sender<u64>,
    desired: broadcast::Sender<DesiredChanged>,
    outbox: Mutex<Outbox>,
    outbox_filled: Notify,
}

#[derive(Debug, Default)]
struct Outbox {
    schedule: bool,
    events: bool,
    nodes: BTreeSet<NodeId>,
}

impl Signals {
    pub(crate) fn new() -> Self {
        Self {
            // No time matters here: the random part is the name.
            instance: RowId::mint(DateTime::UNIX_EPOCH).0,
            schedule: watch::Sender::new(0),
            unsealed: watch::Sender::new(0),
            events: watch::Sender::new(0),
            desired: broadcast::Sender::new(256),
            outbox: Mutex::new(Outbox::default()),
            outbox_filled: Notify::new(),
        }
    }

    /// Changes when the scheduler should look again.
    #[must_use]
    pub fn schedule(&self) -> watch::Receiver<u64> {
        self.schedule.subscribe()
    }

    /// Changes when events wait for their seal.
    #[must_use]
    pub fn unsealed(&self) -> watch::Receiver<u64> {
        self.unsealed.subscribe()
    }

    /// Changes when there are newly sealed events.
    #[must_use]
    pub fn events(&self) -> watch::Receiver<u64> {
        self.events.subscribe()
    }

    /// Says whose desired state has changed. A receiver that lags should look anyway.
    #[must_use]
    pub fn desired(&self) -> broadcast::Receiver<DesiredChanged> {
        self.desired.subscribe()
    }

    /// Something changed that may let a job start.
    pub fn wake_schedule(&self) {
        self.schedule.send_modify(bump);
        self.post(|outbox| outbox.schedule = true);
    }

    pub(crate) fn wake_sealer(&self) {
        self.unsealed.send_modify(bump);
    }

    pub(crate) fn events_sealed(&self) {
        self.events.send_modify(bump);
        self.post(|outbox| outbox.events = true);
    }

    pub(crate) fn desired_changed(&self, nodes: BTreeSet<NodeId>) {
        if nodes.is_empty() {
            return;
        }
        self.post(|outbox| outbox.nodes.extend(nodes.iter().copied()));
        // Nobody listening is fine.
        let _ = self.desired.send(DesiredChanged(Some(nodes)));
    }

    fn post(&self, fill: impl FnOnce(&mut Outbox)) {
        fill(&mut self.outbox.lock().unwrap_or_else(PoisonError::into_inner));
        self.outbox_filled.notify_one();
    }

    fn take_outbox(&self) -> Outbox {
        std::mem::take(&mut self.outbox.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Wakes everybody: after a lost connection nobody knows what was missed.
    fn wake_all(&self) {
        self.schedule.send_modify(bump);
        self.events.send_modify(bump);
        let _ = self.desired.send(DesiredChanged(None));
    }

    fn receive(&self, channel: &str, payload: &str) {
        let (from, rest) = payload.split_once(' ').unwrap_or((payload, ""));
        if from == self.instance.to_string() {
            return;
        }
        match channel {
            SCHEDULE => self.schedule.send_modify(bump),
            EVENTS => self.events.send_modify(bump),
            DESIRED => {
                let nodes: Option<BTreeSet<NodeId>> =
                    if rest == "*" { None } else { rest.split(',').map(|id| id.parse().ok()).collect() };
                let _ = self.desired.send(DesiredChanged(nodes));
            }
            _ => {}
        }
    }
}

fn bump(count: &mut u64) {
    *count = count.wrapping_add(1);
}

/// Carries signals between this process and other servers, until the connection breaks: run it again then.
///
/// # Errors
/// [`StoreError::Unavailable`] when the connection is lost.
pub async fn run(store: &Store) -> Result<Infallible, StoreError> {
    let mut listener = PgListener::connect_with(store.pool()).await?;
    listener.listen_all([SCHEDULE, EVENTS, DESIRED]).await?;
    let signals = store.signals();
    signals.wake_all();
    loop {
        tokio::select! {
            received = listener.try_recv() => match received? {
                Some(notification) => signals.receive(notification.channel(), notification.payload()),
                None => signals.wake_all(),
            },
            () = signals.outbox_filled.notified() => {
                send(store, signals.take_outbox()).await?;
                tokio::time::sleep(REST).await;
            }
        }
    }
}

/// A transaction without changes: its NOTIFY lock is not held over a flush. What arrives meanwhile is sent together.
async fn send(store: &Store, outbox: Outbox) -> Result<(), StoreError> {
    let instance = store.signals().instance;
    let mut channels = Vec::new();
    let mut payloads = Vec::new();
    let mut add = |channel: &str, payload: String| {
        channels.push(channel.to_owned());
        payloads.push(payload);
    };
    if outbox.schedule {
        add(SCHEDULE, instance.to_string());
    }
    if outbox.events {
        add(EVENTS, instance.to_string());
    }
    if outbox.nodes.len() > MOST_NODES_NAMED {
        add(DESIRED, format!("{instance} *"));
    } else if !outbox.nodes.is_empty() {
        let nodes: Vec<String> = outbox.nodes.iter().map(ToString::to_string).collect();
        add(DESIRED, format!("{instance} {}", nodes.join(",")));
    }
    sqlx::query!(
        "select count(pg_notify(channel, payload)) from unnest($1::text[], $2::text[]) as n(channel, payload)",
        &channels,
        &payloads
    )
    .fetch_one(store.pool())
    .await?;
    Ok(())
}
