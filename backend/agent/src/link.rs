//! The conversation of one node with the server: register, then poll and report until told otherwise.
//!
//! It refuses to touch a member: what it hears goes to the node's loop, what it says comes from there.

use crate::boot_time::BootTime;
use crate::server::{NodeServer, REQUEST_TIMEOUT, ServerError};
use crate::state_dir::{Instances, StateDir};
use reeve_core::clock::SharedClock;
use reeve_core::id::RowId;
use reeve_wire::desired::Desired;
use reeve_wire::heartbeat::DEFAULT_HEARTBEAT_SECS;
use reeve_wire::join::{Inventory, Register, Registered};
use reeve_wire::report::{MemberReport, Report, Reported};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tracing::{info, warn};
use uuid::Uuid;

/// What the server said, for the node's loop.
#[derive(Debug)]
pub(crate) enum Heard {
    /// `sent`: when the question was sent, from which the lease counts.
    Registered {
        sent: BootTime,
        answer: Registered,
    },
    Desired(Desired),
    Reported {
        sent: BootTime,
        answer: Reported,
    },
    /// Another agent speaks for this node now.
    Fenced(String),
}

/// What the node's loop wants said.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Saying {
    pub(crate) members: Vec<MemberReport>,
    pub(crate) generation: i64,
}

/// Why a conversation ended.
enum Parted {
    /// The server does not know this instance (any more): register again.
    Forgotten(String),
    /// The node's loop is gone.
    Over,
}

/// How the server wants to be told.
#[derive(Debug, Clone, Copy)]
struct Rhythm {
    heartbeat: Duration,
    /// The longest wait for the answer to a report.
    patience: Duration,
}

impl Rhythm {
    fn of(answer: &Registered) -> Self {
        let heartbeat = match answer.heartbeat_secs {
            0 => DEFAULT_HEARTBEAT_SECS,
            secs => secs,
        };
        let patience = Duration::from_secs(answer.lease_secs.into()) / 4;
        Self { heartbeat: Duration::from_secs(heartbeat.into()), patience: patience.max(LEAST_PATIENCE) }
    }
}

#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) server: NodeServer,
    pub(crate) state: Arc<StateDir>,
    pub(crate) inventory: watch::Receiver<Inventory>,
    pub(crate) clock: SharedClock,
    pub(crate) heard: mpsc::Sender<Heard>,
    pub(crate) saying: watch::Receiver<Saying>,
    /// The lease ran out: everything heard so far is of the past.
    pub(crate) start_over: Arc<Notify>,
    /// Spread the first words of many nodes over this long.
    pub(crate) stagger: Duration,
}

/// Waits longer after each failure, never the same time as others.
#[derive(Debug)]
pub(crate) struct BackOff(Duration);

const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// A server under load needs this long, whatever the lease.
const LEAST_PATIENCE: Duration = Duration::from_secs(1);

const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl BackOff {
    pub(crate) fn new() -> Self {
        Self(FIRST_PAUSE)
    }

    pub(crate) async fn pause(&mut self) {
        tokio::time::sleep(self.0.mul_f64(rand::random_range(0.5..1.5))).await;
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
    }

    pub(crate) fn reset(&mut self) {
        self.0 = FIRST_PAUSE;
    }
}

impl Link {
    /// Talks until the node's loop is gone.
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        tokio::time::sleep(self.stagger.mul_f64(rand::random_range(0.0..1.0))).await;
        let mut instances = self.state.instances()?;
        let instance_id = instances.pending.unwrap_or_else(|| RowId::mint(self.clock.now()).0);
        instances.pending = Some(instance_id);
        self.state.save_instances(&instances)?;
        let mut sequence = 0;
        let mut rhythm = None;
        let mut pauses = BackOff::new();
        loop {
            let registered = self.register(instance_id, &mut instances, &mut sequence, rhythm).await;
            let Some((sent, answer)) = registered else {
                return Ok(());
            };
            let rhythm = *rhythm.insert(Rhythm::of(&answer));
            if self.heard.send(Heard::Registered { sent, answer }).await.is_err() {
                return Ok(());
            }
            let parted = tokio::select! {
                parted = self.poll() => parted,
                parted = self.report(instance_id, &mut sequence, rhythm) => parted,
                parted = self.inventory_changes() => parted,
                () = self.start_over.notified() => Parted::Forgotten("the lease ran out".to_owned()),
            };
            match parted {
                Parted::Over => return Ok(()),
                Parted::Forgotten(why) => {
                    info!(why, "registering again");
                    pauses.pause().await;
                }
            }
        }
    }

    /// Registers, however long it takes. `None`: there is nobody left to tell.
    async fn register(
        &self,
        instance_id: Uuid,
        instances: &mut Instances,
        sequence: &mut i64,
        before: Option<Rhythm>,
    ) -> Option<(BootTime, Registered)> {
        let mut pauses = BackOff::new();
        loop {
            let register = Register {
                instance_id,
                previous_instance_id: instances.confirmed,
                inventory: self.inventory.borrow().clone(),
                sent_at: self.clock.now(),
            };
            let sent = BootTime::now();
            let patience = before.map_or(REQUEST_TIMEOUT, |rhythm| rhythm.patience);
            match self.server.register(&register, patience).await {
                Ok(registered) => {
                    self.confirm(instance_id, instances, &registered);
                    return Some((sent, registered));
                }
                Err(ServerError::Conflict(why)) if before.is_some() => {
                    let _ = self.heard.send(Heard::Fenced(why)).await;
                    return None;
                }
                Err(error) => warn!(%error, "cannot register yet"),
            }
            if before.is_some() {
                // The server may hear us though we don't hear it: then it takes what has ended here for running, and
                // this node for well, as long as we only register.
                let report = self.next_report(instance_id, sequence, self.saying.borrow().clone());
                let _ = self.server.report(&report, patience).await;
            }
            if self.heard.is_closed() {
                return None;
            }
            pauses.pause().await;
        }
    }

    /// The server knows this instance now: the next one takes over from it.
    fn confirm(&self, instance_id: Uuid, instances: &mut Instances, registered: &Registered) {
        *instances = Instances { confirmed: Some(instance_id), pending: None };
        if let Err(error) = self.state.save_instances(instances) {
            warn!(%error, "cannot save the instance");
        }
        info!(node_id = %registered.node_id, server = registered.server_version, "registered");
    }

    fn next_report(&self, instance_id: Uuid, sequence: &mut i64, saying: Saying) -> Report {
        *sequence += 1;
        let Saying { members, generation } = saying;
        Report { instance_id, sequence: *sequence, generation, sent_at: self.clock.now(), members }
    }

    async fn inventory_changes(&self) -> Parted {
        let mut inventory = self.inventory.clone();
        inventory.borrow_and_update();
        match inventory.changed().await {
            Ok(()) => Parted::Forgotten("the node's inventory has changed".to_owned()),
            Err(_) => std::future::pending().await,
        }
    }

    async fn poll(&self) -> Parted {
        let mut generation = -1;
        let mut pauses = BackOff::new();
        loop {
            match self.server.desired(generation).await {
                Ok(desired) => {
                    pauses.reset();
                    let stale = desired.generation < generation;
                    if desired.generation == generation {
                        // A server that does not wait must not be asked in a tight loop.
                        tokio::time::sleep(Duration::from_millis(rand::random_range(20..80))).await;
                        continue;
                    }
                    generation = generation.max(desired.generation);
                    if self.heard.send(Heard::Desired(desired)).await.is_err() {
                        return Parted::Over;
                    }
                    if stale {
                        pauses.pause().await;
                    }
                }
                Err(ServerError::Conflict(why)) => return Parted::Forgotten(why),
                Err(error) => {
                    warn!(%error, "cannot ask what to run");
                    pauses.pause().await;
                }
            }
        }
    }

    async fn report(&self, instance_id: Uuid, sequence: &mut i64, rhythm: Rhythm) -> Parted {
        let mut saying = self.saying.clone();
        let mut pauses = BackOff::new();
        loop {
            let said = saying.borrow_and_update().clone();
            let report = self.next_report(instance_id, sequence, said);
            let sent = BootTime::now();
            match self.server.report(&report, rhythm.patience).await {
                Ok(answer) => {
                    pauses.reset();
                    if self.heard.send(Heard::Reported { sent, answer }).await.is_err() {
                        return Parted::Over;
                    }
                }
                Err(ServerError::Conflict(why)) => return Parted::Forgotten(why),
                Err(error) => {
                    warn!(%error, "cannot report");
                    pauses.pause().await;
                    continue;
                }
            }
            let rest = rhythm.heartbeat.mul_f64(rand::random_range(0.8..1.0));
            tokio::select! {
                changed = saying.changed() => if changed.is_err() { return Parted::Over },
                () = tokio::time::sleep(rest) => {}
            }
        }
    }
}
