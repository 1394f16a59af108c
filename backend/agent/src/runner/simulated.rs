//! Members as timers: jobs without processes, for many nodes on one machine.
//!
//! A job says by its environment how it behaves, in seconds that the time scale divides:
//! `REEVE_SIM_DURATION_SECS` (default 60), `REEVE_SIM_EXIT_CODE` (0), `REEVE_SIM_LEAVE_SECS` (0: how long it takes to
//! write its checkpoint and leave when asked). What it has done is kept by job, so that a run with `REEVE_RESUME=1` goes on
//! where the last one left. Everything is on disk: a restarted agent finds its jobs further on, as real ones
//! would be. It refuses to pretend a use of GPUs.

use super::traits::{Notice, Observed, Runner, log_path, member_folder};
use crate::boot_time::BootTime;
use crate::files::{self, Durability};
use crate::shim::{Exit, signal_name};
use nix::sys::signal::Signal;
use reeve_wire::desired::DesiredMember;
use reeve_wire::report::MemberKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;
use tracing::warn;

const STATE: &str = "simulated.json";

/// One simulated member. Durations are in real milliseconds, the scale already applied.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Timer {
    started: BootTime,
    /// Done by earlier runs.
    done_before_ms: i64,
    total_ms: i64,
    leave_ms: i64,
    exit_code: i32,
    saves: bool,
    /// Asked for a checkpoint: it leaves then, if it is not done before.
    leaves_at: Option<BootTime>,
    ended: Option<Exit>,
}

#[derive(Debug)]
pub(crate) struct SimulatedRunner {
    members: PathBuf,
    /// What jobs have done, one file a job; shared by the nodes of one process.
    progress: PathBuf,
    time_scale: f64,
    timers: BTreeMap<MemberKey, Timer>,
}

impl SimulatedRunner {
    pub(crate) fn new(members: PathBuf, progress: PathBuf, time_scale: f64) -> Self {
        Self { members, progress, time_scale, timers: BTreeMap::new() }
    }

    #[expect(clippy::cast_possible_truncation, reason = "milliseconds; `as` saturates")]
    fn scaled_ms(&self, env: &BTreeMap<String, String>, name: &str, default: f64) -> i64 {
        let secs = env.get(name).and_then(|text| text.parse::<f64>().ok()).unwrap_or(default);
        (secs.max(0.0) * 1_000.0 / self.time_scale) as i64
    }

    fn progress_path(&self, key: &MemberKey) -> PathBuf {
        self.progress.join(format!("{}.{}", key.job_id, key.member))
    }

    fn done_before(&self, key: &MemberKey) -> i64 {
        std::fs::read_to_string(self.progress_path(key))
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0)
    }

    fn save(&self, key: &MemberKey, timer: &Timer) -> io::Result<()> {
        files::write_json(&member_folder(&self.members, key).join(STATE), timer, Durability::Boot)
    }

    fn say(&self, key: &MemberKey, line: &str) {
        let written = OpenOptions::new()
            .create(true)
            .append(true)
            .open(log_path(&self.members, key))
            .and_then(|mut log| writeln!(log, "{line}"));
        if let Err(error) = written {
            warn!(job = %key.job_id, %error, "cannot write its log");
        }
    }

    fn timer(&mut self, key: &MemberKey) -> Option<Timer> {
        if let Some(timer) = self.timers.get(key) {
            return Some(timer.clone());
        }
        let path = member_folder(&self.members, key).join(STATE);
        let timer: Timer = files::read_json(&path).ok().flatten()?;
        self.timers.insert(key.clone(), timer.clone());
        Some(timer)
    }

    fn keep(&mut self, key: &MemberKey, timer: Timer) {
        if let Err(error) = self.save(key, &timer) {
            warn!(job = %key.job_id, %error, "cannot save a simulated job");
        }
        self.timers.insert(key.clone(), timer);
    }

    fn end(&mut self, key: &MemberKey, mut timer: Timer, exit: Exit) {
        if timer.saves && exit.signal.is_none() {
            let done = timer.done_at(exit.at);
            if let Err(error) = std::fs::write(self.progress_path(key), done.to_string()) {
                warn!(job = %key.job_id, %error, "cannot save a simulated job's progress");
            }
        }
        self.say(key, &format!("simulated job ends: {}", how(&exit)));
        timer.ended = Some(exit);
        self.keep(key, timer);
    }
}

fn how(exit: &Exit) -> String {
    match (&exit.signal, exit.exit_code) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, code) => format!("exit code {}", code.unwrap_or(0)),
    }
}

impl Timer {
    fn done_at(&self, moment: BootTime) -> i64 {
        let ran = i64::try_from(moment.since(self.started).as_millis()).unwrap_or(i64::MAX);
        self.done_before_ms.saturating_add(ran).min(self.total_ms)
    }

    fn exit_at(&self, at: BootTime, exit_code: Option<i32>, signal: Option<Signal>) -> Exit {
        let (started, signal) = (Some(self.started), signal.map(signal_name));
        Exit { at, started, pid: None, exit_code, signal, start_error: None, lease_lost: false }
    }

    /// When it ends by itself, and how.
    fn own_end(&self) -> Exit {
        let left = u64::try_from(self.total_ms.saturating_sub(self.done_before_ms)).unwrap_or(0);
        let done = self.started.plus(Duration::from_millis(left));
        match self.leaves_at {
            Some(leaves) if leaves < done => self.exit_at(leaves, Some(0), None),
            _ => self.exit_at(done, Some(self.exit_code), None),
        }
    }
}

impl Runner for SimulatedRunner {
    fn start(&mut self, member: &DesiredMember, now: BootTime) -> Result<(), String> {
        let key = MemberKey { job_id: member.job_id, run_number: member.run_number, member: member.member };
        let env = &member.spec.env;
        files::make_folder(&member_folder(&self.members, &key), 0o700)
            .map_err(|error| format!("the agent cannot start it: {error}"))?;
        let timer = Timer {
            started: now,
            done_before_ms: if member.spec.resume { self.done_before(&key) } else { 0 },
            total_ms: self.scaled_ms(env, "REEVE_SIM_DURATION_SECS", 60.0),
            leave_ms: self.scaled_ms(env, "REEVE_SIM_LEAVE_SECS", 0.0),
            exit_code: env.get("REEVE_SIM_EXIT_CODE").and_then(|text| text.parse().ok()).unwrap_or(0),
            saves: member.spec.checkpoint != reeve_core::job::CheckpointMode::None,
            leaves_at: None,
            ended: None,
        };
        self.say(
            &key,
            &format!(
                "simulated job {} run {} rank {} of {} on GPUs {:?}: {} ms, {} ms of them done before",
                member.spec.job_name,
                key.run_number,
                key.member,
                member.spec.replicas,
                member.spec.gpu_indices,
                timer.total_ms,
                timer.done_before_ms
            ),
        );
        self.keep(&key, timer);
        Ok(())
    }

    fn observe(&mut self, key: &MemberKey, now: BootTime) -> Observed {
        let Some(timer) = self.timer(key) else { return Observed::Vanished };
        if let Some(exit) = timer.ended {
            return Observed::Ended(exit);
        }
        let exit = timer.own_end();
        if exit.at > now {
            return Observed::Running { pid: None, since: timer.started };
        }
        self.end(key, timer, exit.clone());
        Observed::Ended(exit)
    }

    fn signal(&mut self, key: &MemberKey, signal: Signal, now: BootTime) -> bool {
        match self.timer(key) {
            Some(timer) if timer.ended.is_none() => {
                let exit = timer.exit_at(now, None, Some(signal));
                self.end(key, timer, exit);
                true
            }
            _ => false,
        }
    }

    fn ask_checkpoint(&mut self, key: &MemberKey, signal: Signal, now: BootTime) -> bool {
        match self.timer(key) {
            Some(mut timer) if timer.ended.is_none() => {
                let leave_ms = u64::try_from(timer.leave_ms).unwrap_or(0);
                timer.leaves_at.get_or_insert(now.plus(Duration::from_millis(leave_ms)));
                self.say(key, &format!("asked by {} to write a checkpoint and leave", signal_name(signal)));
                self.keep(key, timer);
                true
            }
            _ => false,
        }
    }

    fn notify(&mut self, key: &MemberKey, notice: &Notice<'_>) {
        self.say(key, &format!("notice: {} until {}", notice.cause, notice.leave_by));
    }

    fn acknowledged(&self, _key: &MemberKey) -> Option<i64> {
        None
    }

    fn sweep(&mut self, live: &dyn Fn(&MemberKey) -> bool) {
        self.timers.retain(|key, _| live(key));
    }
}
