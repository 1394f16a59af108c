//! A node whose agent is played by the test, through the agents' own protocol.

use crate::client::Client;
use chrono::{DateTime, Utc};
use reeve_core::clock::{Clock, MockClock};
use reeve_core::job::MemberState;
use reeve_wire::desired::{Desired, DesiredMember, Order};
use reeve_wire::report::{MemberEnd, MemberKey, MemberReport, Report, Reported};
use reeve_wire::samples::{GpuSample, Samples, SamplesKept};
use std::collections::BTreeMap;
use std::sync::Mutex;
use uuid::Uuid;

/// What its agent knows.
#[derive(Debug, Default)]
struct Memory {
    sequence: i64,
    generation: i64,
    members: BTreeMap<MemberKey, MemberReport>,
}

/// A node.
#[derive(Debug)]
pub struct SimNode {
    pub client: Client,
    clock: MockClock,
    instance: Uuid,
    memory: Mutex<Memory>,
}

impl SimNode {
    #[must_use]
    pub fn new(client: Client, clock: MockClock, instance: Uuid) -> Self {
        Self { client, clock, instance, memory: Mutex::default() }
    }

    /// What it should run.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn desired(&self) -> Desired {
        let reply = self.client.get("/agent/v1/desired").await;
        let desired: Desired = serde_json::from_value(reply.ok()).expect("a desired state");
        self.memory.lock().expect("not poisoned").generation = desired.generation;
        desired
    }

    /// Starts every member that it should run; answers how many it runs then.
    ///
    /// # Panics
    /// When a report is refused.
    pub async fn run_all(&self) -> usize {
        let now = self.clock.now();
        let desired = self.desired().await;
        {
            let mut memory = self.memory.lock().expect("not poisoned");
            for member in desired.members.iter().filter(|member| member.order == Order::Run) {
                let key = key(member);
                memory.members.entry(key.clone()).or_insert_with(|| MemberReport {
                    job_id: key.job_id,
                    run_number: key.run_number,
                    member: key.member,
                    state: MemberState::Running,
                    pid: Some(4_242),
                    started_at: Some(now),
                    checkpointed_at: None,
                    log_bytes: None,
                    end: None,
                });
            }
        }
        self.heartbeat().await;
        self.memory.lock().expect("not poisoned").members.len()
    }

    /// From now on it tells that a job's members have written so much.
    ///
    /// # Panics
    /// For what is no job's id.
    pub fn wrote(&self, job: &str, bytes: i64) {
        let job: Uuid = job.parse().expect("a job's id");
        let mut memory = self.memory.lock().expect("not poisoned");
        for (_, member) in memory.members.iter_mut().filter(|(key, _)| key.job_id == job) {
            member.log_bytes = Some(bytes);
        }
    }

    /// Ends all members of a job by themselves.
    ///
    /// # Panics
    /// When a report is refused.
    pub async fn end(&self, job: &str, exit_code: i32) {
        let job: Uuid = job.parse().expect("a job's id");
        self.end_where(|key| key.job_id == job, |end| end.exit_code = Some(exit_code), false).await;
    }

    /// Does what it is told to: members with the order to leave write a checkpoint and go, those with the order to
    /// stop are ended.
    ///
    /// # Panics
    /// When a report is refused.
    pub async fn obey(&self) {
        let desired = self.desired().await;
        let told = |wanted: fn(&Order) -> bool| -> Vec<MemberKey> {
            desired.members.iter().filter(|member| wanted(&member.order)).map(key).collect()
        };
        let leaving = told(|order| matches!(order, Order::Leave { .. }));
        let stopping = told(|order| matches!(order, Order::Stop { .. }));
        let asked = |end: &mut MemberEnd| {
            end.exit_code = Some(0);
            end.asked = true;
        };
        self.end_where(|key| leaving.contains(key), asked, true).await;
        let killed = |end: &mut MemberEnd| {
            end.signal = Some("TERM".to_owned());
            end.asked = true;
        };
        self.end_where(|key| stopping.contains(key), killed, false).await;
    }

    /// Tells how GPUs are used: index, moment, thousandths of compute, and who is on it.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn tell_use(&self, looks: &[(u32, DateTime<Utc>, u32)], on: &[MemberKey]) -> SamplesKept {
        let samples = looks.iter().map(|&(index, at, compute)| GpuSample {
            at,
            index,
            compute_permille: Some(compute),
            memory_used_mib: Some(40_960),
            power_milliwatts: Some(300_000),
            temperature_celsius: Some(61),
            pcie_kib_per_s: None,
            members: on.to_vec(),
        });
        let body = serde_json::to_value(Samples { samples: samples.collect() }).expect("JSON");
        let kept = self.client.post("/agent/v1/samples", body).await.ok();
        serde_json::from_value(kept).expect("an answer")
    }

    /// The members of a job that it runs, and their GPUs.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn members_of(&self, job: &str) -> Vec<(MemberKey, Vec<u32>)> {
        let job: Uuid = job.parse().expect("a job's id");
        let desired = self.desired().await;
        let of_job = desired.members.iter().filter(|member| member.job_id == job);
        of_job.map(|member| (key(member), member.spec.gpu_indices.clone())).collect()
    }

    async fn end_where(
        &self,
        which: impl Fn(&MemberKey) -> bool,
        how: impl Fn(&mut MemberEnd),
        checkpointed: bool,
    ) {
        let now = self.clock.now();
        {
            let mut memory = self.memory.lock().expect("not poisoned");
            for (_, member) in memory.members.iter_mut().filter(|(key, _)| which(key)) {
                let mut end = MemberEnd {
                    at: now,
                    exit_code: None,
                    signal: None,
                    start_error: None,
                    lease_lost: false,
                    vanished: false,
                    asked: false,
                    timed_out: false,
                };
                how(&mut end);
                member.state = MemberState::Ended;
                member.end = Some(end);
                if checkpointed {
                    member.checkpointed_at = Some(now);
                }
            }
        }
        self.heartbeat().await;
    }

    /// Reports everything that it knows, and forgets what is settled.
    ///
    /// # Panics
    /// When the report is refused.
    pub async fn heartbeat(&self) -> Reported {
        let report = self.next_report();
        let body = serde_json::to_value(&report).expect("JSON");
        let reported: Reported =
            serde_json::from_value(self.client.post("/agent/v1/report", body).await.ok()).expect("an answer");
        let mut memory = self.memory.lock().expect("not poisoned");
        for key in &reported.settled {
            memory.members.remove(key);
        }
        reported
    }

    /// The report that comes next.
    ///
    /// # Panics
    /// Never.
    pub fn next_report(&self) -> Report {
        let mut memory = self.memory.lock().expect("not poisoned");
        memory.sequence += 1;
        Report {
            instance_id: self.instance,
            sequence: memory.sequence,
            generation: memory.generation,
            sent_at: self.clock.now(),
            members: memory.members.values().cloned().collect(),
        }
    }
}

fn key(member: &DesiredMember) -> MemberKey {
    MemberKey { job_id: member.job_id, run_number: member.run_number, member: member.member }
}
