//! The loop of one node. It owns the members: it alone starts, steps, saves and forgets them.
//!
//! It is level-triggered: each desired state is compared with what is, whatever was missed in between. It
//! refuses desired states older than the newest it has seen, and to start a member again that it has seen end.

use crate::boot_time::{BootTime, boot_id};
use crate::files::{self, Durability};
use crate::gpus::Held;
use crate::lease::{KILL_AFTER_SECS, Lease};
use crate::link::{Heard, Saying};
use crate::logs::LogBoard;
use crate::member::Moment;
use crate::record::Record;
use crate::runner::{Runner, member_folder};
use crate::server_time::ServerTime;
use crate::state_dir::{StateDir, key_of};
use crate::telemetry::Occupancy;
use chrono::{DateTime, Utc};
use reeve_core::clock::SharedClock;
use reeve_wire::desired::{Desired, DesiredMember, Order};
use reeve_wire::report::{MemberKey, Reported};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

const RECORD: &str = "record.json";

/// What a node's loop is made of.
pub(crate) struct Parts {
    pub(crate) state: Arc<StateDir>,
    pub(crate) runner: Box<dyn Runner>,
    pub(crate) logs: Arc<LogBoard>,
    /// What records must survive.
    pub(crate) durability: Durability,
    /// How often members are looked at.
    pub(crate) tick: Duration,
    /// What the link tells the server.
    pub(crate) saying: watch::Sender<Saying>,
    /// Tells the link that the lease has run out.
    pub(crate) start_over: Arc<Notify>,
    /// Says who runs on which GPU.
    pub(crate) occupancy: Occupancy,
}

pub(crate) struct Node {
    parts: Parts,
    records: BTreeMap<MemberKey, Record>,
    /// Ended and recorded by the server in this life of the agent: an answer that was on its way may still
    /// desire them.
    forgotten: BTreeSet<MemberKey>,
    /// The newest desired state.
    desired: Option<Desired>,
    lease: Option<Lease>,
    /// The end of the lease has been seen, and the link told to start over.
    lease_was_over: bool,
    server_time: ServerTime,
}

/// Why the loop ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Told to; jobs go on.
    Left,
    /// Told to, and every job is gone.
    Emptied,
    /// Another agent speaks for this node now; every job is gone.
    Fenced(String),
}

impl Node {
    pub(crate) fn new(parts: Parts, clock: &SharedClock) -> Self {
        Self {
            lease: Lease::load(&parts.state.lease_path()),
            parts,
            records: BTreeMap::new(),
            forgotten: BTreeSet::new(),
            desired: None,
            lease_was_over: true,
            server_time: ServerTime::new(clock.now(), BootTime::now()),
        }
    }

    /// Takes up what an earlier life of the agent left, and ends what nobody looks after.
    pub(crate) fn adopt(&mut self) -> std::io::Result<()> {
        let moment = self.moment();
        let boot = boot_id();
        for entry in std::fs::read_dir(self.parts.state.members())? {
            let entry = entry?;
            let Some(key) = entry.file_name().to_str().and_then(key_of) else { continue };
            let record: Option<Record> =
                files::read_json(&entry.path().join(RECORD)).unwrap_or_else(|error| {
                    warn!(%error, "cannot read a member's record: what it ran is ended");
                    None
                });
            let Some(mut record) = record else { continue };
            if record.settled {
                // Its end is told; the rest of its log may not be.
                self.parts.logs.watch(&key, &entry.path(), true);
                continue;
            }
            if record.is_live() && record.boot_id != boot {
                record.survive_boot(&moment, self.parts.runner.as_mut());
            }
            self.parts.logs.watch(&key, &member_folder(&self.parts.state.members(), &key), !record.is_live());
            self.save(&record);
            self.records.insert(key, record);
        }
        self.remember_time(&boot);
        let adopted: Vec<&MemberKey> =
            self.records.iter().filter(|(_, record)| record.is_live()).map(|(key, _)| key).collect();
        if !adopted.is_empty() {
            info!(members = adopted.len(), "adopted");
        }
        let records = &self.records;
        self.parts.runner.sweep(&|key| records.get(key).is_some_and(Record::is_live));
        self.step_all();
        self.say();
        Ok(())
    }

    /// Runs until told to leave, or fenced.
    pub(crate) async fn run(
        &mut self,
        heard: &mut mpsc::Receiver<Heard>,
        leave: CancellationToken,
        stop_jobs: bool,
    ) -> Ended {
        let mut ticks = tokio::time::interval(self.parts.tick);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut fenced = None;
        let mut emptying = false;
        loop {
            tokio::select! {
                () = leave.cancelled(), if !emptying => {
                    if !stop_jobs {
                        return Ended::Left;
                    }
                    info!("stopping the jobs before leaving");
                    emptying = true;
                    self.abandon_all();
                }
                Some(heard) = heard.recv() => match heard {
                    Heard::Fenced(why) => {
                        warn!(why, "another agent speaks for this node: ending its jobs here");
                        fenced = Some(why);
                        emptying = true;
                        self.abandon_all();
                    }
                    // What is desired no longer matters when everything goes.
                    Heard::Desired(_) if emptying => {}
                    other => self.hear(other),
                },
                _ = ticks.tick() => {}
            }
            if self.step_all() {
                self.say();
            }
            if emptying && self.records.values().all(|record| !record.is_live()) {
                match fenced {
                    Some(why) => return Ended::Fenced(why),
                    // The ends are said before going, if the server takes them in time.
                    None => return Ended::Emptied,
                }
            }
        }
    }

    /// Hears what still comes when every job is gone: that ends are recorded, and nothing to start.
    pub(crate) fn hear_last(&mut self, heard: Heard) {
        if !matches!(heard, Heard::Desired(_)) {
            self.hear(heard);
        }
    }

    /// Whether the server has recorded every end.
    pub(crate) fn all_settled(&self) -> bool {
        self.records.is_empty()
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Registered { sent, answer } => {
                self.tell_time(answer.server_time);
                self.parts.logs.limit(answer.log_limit_bytes);
                self.renew(Lease::granted(sent, answer.lease_secs, answer.lease_margin_secs));
                // The server may have been restored from a backup: its generations may start lower.
                self.desired = None;
            }
            Heard::Reported { sent, answer } => self.settle(sent, &answer),
            Heard::Desired(desired) => {
                let newest = self.desired.as_ref().map_or(-1, |desired| desired.generation);
                if desired.generation < newest {
                    info!(generation = desired.generation, newest, "ignoring an older desired state");
                    return;
                }
                if self.lease_over() {
                    // It is from before: the server has given the node up since, or soon will.
                    info!(generation = desired.generation, "ignoring a desired state: there is no lease");
                    return;
                }
                self.converge(&desired);
                self.desired = Some(desired);
                self.say();
            }
            Heard::Fenced(_) => self.abandon_all(),
        }
    }

    /// The server's clock as the last life knew it: the server may be away for a while yet.
    fn remember_time(&mut self, boot: &str) {
        let of_this_boot = self.records.values().filter(|record| record.boot_id == boot);
        let known = of_this_boot.filter_map(|record| Some((record.started?, record.started_at?)));
        if let Some((at, said)) = known.max() {
            self.server_time = ServerTime::new(said, at);
            self.parts.occupancy.set_time(self.server_time);
        }
    }

    fn tell_time(&mut self, said: DateTime<Utc>) {
        self.server_time = ServerTime::new(said, BootTime::now());
        self.parts.occupancy.set_time(self.server_time);
    }

    fn settle(&mut self, sent: BootTime, answer: &Reported) {
        self.tell_time(answer.server_time);
        self.renew(Lease::granted(sent, answer.lease_secs, answer.lease_margin_secs));
        let mut settled = false;
        for key in &answer.settled {
            let Some(record) = self.records.get_mut(key).filter(|record| !record.is_live()) else { continue };
            record.settled = true;
            let record = record.clone();
            self.save(&record);
            self.records.remove(key);
            self.forgotten.insert(key.clone());
            settled = true;
        }
        if settled {
            // Worth saying at the next heartbeat, not now.
            let saying = self.all_there_is();
            self.parts.saying.send_if_modified(|said| {
                *said = saying;
                false
            });
        }
    }

    fn renew(&mut self, lease: Lease) {
        if let Err(error) = lease.save(&self.parts.state.lease_path()) {
            warn!(%error, "cannot save the lease");
        }
        self.lease = Some(lease);
        self.lease_was_over = false;
    }

    fn lease_over(&self) -> bool {
        // Nothing is started before the first registration, so a life without a lease file has no jobs.
        self.lease.as_ref().is_none_or(|lease| lease.is_over(BootTime::now()))
    }

    /// Makes what is desired so: begins what is missing, passes orders on, stops what is no longer desired.
    fn converge(&mut self, desired: &Desired) {
        let moment = self.moment();
        let mut wanted = BTreeSet::new();
        for member in &desired.members {
            let key =
                MemberKey { job_id: member.job_id, run_number: member.run_number, member: member.member };
            wanted.insert(key.clone());
            if self.forgotten.contains(&key) {
                continue;
            }
            let changed = match self.records.get_mut(&key) {
                Some(record) => record.obey(&member.order),
                None => {
                    self.begin(key.clone(), member, &moment);
                    true
                }
            };
            if changed {
                self.save_key(&key);
            }
        }
        let unwanted: Vec<MemberKey> = self
            .records
            .iter_mut()
            .filter(|(key, _)| !wanted.contains(*key))
            .filter_map(|(key, record)| record.unwanted().then(|| key.clone()))
            .collect();
        for key in unwanted {
            self.save_key(&key);
        }
        // What the newest state no longer names, no answer on its way will name again.
        self.forgotten.retain(|key| wanted.contains(key));
    }

    fn begin(&mut self, key: MemberKey, member: &DesiredMember, moment: &Moment) {
        let folder = member_folder(&self.parts.state.members(), &key);
        let mut record = Record::new(key.clone(), boot_id(), &member.spec);
        if member.order == Order::Run {
            // The record first: a start that is not remembered could happen twice.
            record.acknowledged = self.parts.runner.acknowledged(&key);
            match files::make_folder(&folder, 0o700)
                .and_then(|()| files::write_json(&folder.join(RECORD), &record, self.parts.durability))
            {
                Ok(()) => {
                    info!(job = %key.job_id, name = record.job_name, run = key.run_number, "starting");
                    if let Err(error) = self.parts.runner.start(member, moment.now) {
                        record.fail_to_start(error, moment);
                    }
                }
                Err(error) => record.fail_to_start(format!("the agent cannot start it: {error}"), moment),
            }
        } else {
            record.never_was(moment);
        }
        self.parts.logs.watch(&key, &folder, !record.is_live());
        self.records.insert(key, record);
    }

    /// Looks at every member. True when anything must be reported.
    fn step_all(&mut self) -> bool {
        let moment = self.moment();
        if moment.lease_over && !self.lease_was_over {
            warn!("no answer from the server for the length of the lease: ending the jobs");
            self.lease_was_over = true;
            self.parts.start_over.notify_one();
        }
        let mut changed = Vec::new();
        for (key, record) in &mut self.records {
            if record.step(&moment, self.parts.runner.as_mut()) {
                changed.push(key.clone());
            }
        }
        for key in &changed {
            self.save_key(key);
            if self.records.get(key).is_some_and(|record| !record.is_live()) {
                self.parts.logs.end(key);
            }
        }
        !changed.is_empty()
    }

    fn abandon_all(&mut self) {
        let abandoned: Vec<MemberKey> = self
            .records
            .iter_mut()
            .filter_map(|(key, record)| record.abandon().then(|| key.clone()))
            .collect();
        for key in abandoned {
            self.save_key(&key);
        }
    }

    fn moment(&self) -> Moment {
        let now = BootTime::now();
        Moment {
            now,
            server_time: self.server_time,
            lease_over: self.lease_over(),
            lease_kill_after_secs: self.lease.as_ref().map_or(KILL_AFTER_SECS, Lease::kill_after_secs),
        }
    }

    fn save_key(&self, key: &MemberKey) {
        if let Some(record) = self.records.get(key) {
            self.save(record);
        }
    }

    fn save(&self, record: &Record) {
        let folder = member_folder(&self.parts.state.members(), &record.key);
        let saved = files::make_folder(&folder, 0o700)
            .and_then(|()| files::write_json(&folder.join(RECORD), record, self.parts.durability));
        if let Err(error) = saved {
            warn!(job = %record.key.job_id, %error, "cannot save a member's record");
        }
    }

    fn say(&self) {
        self.parts.occupancy.set_held(self.held());
        let saying = self.all_there_is();
        self.parts.saying.send_if_modified(|said| {
            let news = *said != saying;
            *said = saying;
            news
        });
    }

    fn held(&self) -> BTreeMap<u32, Held> {
        let mut held: BTreeMap<u32, Held> = BTreeMap::new();
        for (key, record) in self.records.iter().filter(|(_, record)| record.is_live()) {
            for &index in &record.gpu_indices {
                let on = held.entry(index).or_default();
                on.members.push(key.clone());
                // Of several shares, as busy as all of them.
                if let Some(permille) = record.simulated_permille {
                    on.simulated_permille = Some((on.simulated_permille.unwrap_or(0) + permille).min(1_000));
                }
            }
        }
        held
    }

    fn all_there_is(&self) -> Saying {
        let members =
            self.records.values().map(|record| record.report(self.parts.logs.size(&record.key))).collect();
        let generation = self.desired.as_ref().map_or(0, |desired| desired.generation);
        Saying { members, generation }
    }
}
