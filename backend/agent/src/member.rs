//! One member's way from its start to its confirmed end.
//!
//! Orders only ever make it leave sooner: a leave may become a stop, nothing becomes a run again. A job that
//! ends by itself keeps its own end, whatever had been asked. It refuses to start anything.

use crate::boot_time::BootTime;
use crate::lease::KILL_AFTER_SECS;
use crate::record::{Leave, Record, Stop};
use crate::runner::{Notice, Observed, Runner};
use crate::server_time::ServerTime;
use crate::shim::Exit;
use chrono::{DateTime, Utc};
use nix::sys::signal::Signal;
use reeve_core::job::{CheckpointMode, MemberState};
use reeve_wire::desired::Order;
use reeve_wire::report::{MemberEnd, MemberReport};
use std::time::Duration;
use tracing::{info, warn};

/// TERM to KILL when no order says otherwise.
const DEFAULT_KILL_AFTER_SECS: u32 = 10;

/// KILL is repeated this often: what is stuck in a driver may come loose.
const KILL_AGAIN: Duration = Duration::from_secs(5);

/// Least between two reports of checkpoints that nobody asked for: each moves the job for the planner.
const CHECKPOINT_REST: Duration = Duration::from_secs(5);

/// What a step needs to know beside the member.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now: BootTime,
    pub(crate) server_time: ServerTime,
    pub(crate) lease_over: bool,
    /// TERM to KILL when it is.
    pub(crate) lease_kill_after_secs: u32,
}

impl Record {
    pub(crate) fn is_live(&self) -> bool {
        self.end.is_none()
    }

    pub(crate) fn state(&self) -> MemberState {
        match (&self.end, self.started, self.leave.is_some() || self.stop.is_some()) {
            (Some(_), ..) => MemberState::Ended,
            (None, _, true) => MemberState::Leaving,
            (None, Some(_), false) => MemberState::Running,
            (None, None, false) => MemberState::Starting,
        }
    }

    pub(crate) fn report(&self, log_bytes: Option<i64>) -> MemberReport {
        MemberReport {
            job_id: self.key.job_id,
            run_number: self.key.run_number,
            member: self.key.member,
            state: self.state(),
            pid: self.pid.map(i64::from),
            started_at: self.started_at,
            checkpointed_at: self.checkpointed_at,
            log_bytes,
            end: self.end.clone(),
        }
    }

    /// Takes an order. True when it changed anything.
    pub(crate) fn obey(&mut self, order: &Order) -> bool {
        if !self.is_live() {
            return false;
        }
        match order {
            Order::Run => false,
            Order::Leave { leave_by, checkpoint, cause, kill_after_secs } => {
                self.asked = true;
                if let Some(leave) = &mut self.leave {
                    let moved = leave.leave_by != *leave_by;
                    leave.leave_by = *leave_by;
                    return moved;
                }
                info!(job = %self.key.job_id, run = self.key.run_number, cause, %leave_by, "told to leave");
                self.leave = Some(Leave {
                    leave_by: *leave_by,
                    checkpoint: *checkpoint,
                    cause: cause.clone(),
                    kill_after_secs: *kill_after_secs,
                    signalled: false,
                    acknowledged: false,
                });
                true
            }
            Order::Stop { cause, kill_after_secs } => {
                self.asked = true;
                self.stop(*kill_after_secs, cause)
            }
        }
    }

    /// The server no longer wants it here.
    pub(crate) fn unwanted(&mut self) -> bool {
        if !self.is_live() || self.stop.is_some() {
            return false;
        }
        self.asked = true;
        self.stop(DEFAULT_KILL_AFTER_SECS, "no longer desired")
    }

    /// The agent itself goes for good, and gives its lease up.
    pub(crate) fn abandon(&mut self) -> bool {
        if !self.is_live() || self.stop.is_some() {
            return false;
        }
        self.lease_lost = true;
        self.stop(KILL_AFTER_SECS, "the agent stops")
    }

    fn stop(&mut self, kill_after_secs: u32, cause: &str) -> bool {
        if let Some(stop) = &mut self.stop {
            // A shorter patience counts, a longer one does not.
            let shorter = kill_after_secs < stop.kill_after_secs;
            stop.kill_after_secs = stop.kill_after_secs.min(kill_after_secs);
            return shorter;
        }
        info!(job = %self.key.job_id, run = self.key.run_number, cause, "stopping");
        self.stop = Some(Stop { kill_after_secs, termed: None, killed: None });
        true
    }

    /// Looks at it and does what is due. True when anything changed that must be saved and reported.
    pub(crate) fn step(&mut self, moment: &Moment, runner: &mut dyn Runner) -> bool {
        if !self.is_live() {
            return false;
        }
        let mut changed = match runner.observe(&self.key, moment.now) {
            Observed::Ended(exit) => {
                // What it said last may not have been heard yet.
                self.hear_checkpoint(moment, runner);
                return self.finish(exit, moment);
            }
            Observed::Vanished => return self.vanish(moment),
            Observed::Starting => false,
            Observed::Running { pid, since } => {
                let first = self.started.is_none();
                self.started = Some(since);
                self.started_at.get_or_insert(moment.server_time.at(since));
                self.pid = pid;
                first
            }
        };
        changed |= self.hear_checkpoint(moment, runner);
        changed |= self.check_limits(moment);
        changed |= self.go_on_leaving(moment, runner);
        changed |= self.go_on_stopping(moment, runner);
        changed
    }

    /// True when a checkpoint must be reported: at once when it is an answer, else not more often than the server
    /// needs to know.
    fn hear_checkpoint(&mut self, moment: &Moment, runner: &dyn Runner) -> bool {
        let heard = runner.acknowledged(&self.key);
        if heard.is_some() && heard != self.acknowledged {
            self.acknowledged = heard;
            self.checkpointed_at = Some(self.told_at(moment, moment.now));
            self.checkpoint_untold = true;
            if let Some(leave) = &mut self.leave {
                // One that was written before the job was told is a checkpoint, but not the answer.
                leave.acknowledged |= leave.signalled;
            }
        }
        let rested = self.checkpoint_told.is_none_or(|told| moment.now.since(told) >= CHECKPOINT_REST);
        if !self.checkpoint_untold || !(rested || self.leave.is_some()) {
            return false;
        }
        self.checkpoint_untold = false;
        self.checkpoint_told = Some(moment.now);
        true
    }

    fn check_limits(&mut self, moment: &Moment) -> bool {
        if moment.lease_over && !self.lease_lost {
            warn!(job = %self.key.job_id, run = self.key.run_number, "the lease is over");
            self.lease_lost = true;
            self.stop(moment.lease_kill_after_secs, "the lease is over");
            return true;
        }
        let Some(limit) = self.time_limit_secs.and_then(|secs| u64::try_from(secs).ok()) else {
            return false;
        };
        let over =
            self.started.is_some_and(|started| moment.now.since(started) >= Duration::from_secs(limit));
        if !over || self.timed_out || self.stop.is_some() {
            return false;
        }
        self.timed_out = true;
        self.stop(DEFAULT_KILL_AFTER_SECS, "over its time limit")
    }

    fn go_on_leaving(&mut self, moment: &Moment, runner: &mut dyn Runner) -> bool {
        let Some(leave) = &mut self.leave else { return false };
        let mut changed = false;
        if !leave.signalled && self.started.is_some() {
            let asks = leave.checkpoint && self.checkpoint == CheckpointMode::OnSignal;
            let notice = Notice { cause: &leave.cause, leave_by: leave.leave_by, checkpoint: asks };
            runner.notify(&self.key, &notice);
            if asks {
                match parse_signal(&self.checkpoint_signal) {
                    Some(signal) => {
                        runner.ask_checkpoint(&self.key, signal, moment.now);
                    }
                    None => {
                        warn!(signal = self.checkpoint_signal, "no such signal: no checkpoint is asked for")
                    }
                }
            }
            leave.signalled = true;
            changed = true;
        }
        let over = moment.now >= moment.server_time.when(leave.leave_by);
        if (over || leave.acknowledged) && self.stop.is_none() {
            let (kill_after_secs, cause) = (
                leave.kill_after_secs,
                if leave.acknowledged { "its checkpoint is written" } else { "its grace is over" },
            );
            changed |= self.stop(kill_after_secs, cause);
        }
        changed
    }

    fn go_on_stopping(&mut self, moment: &Moment, runner: &mut dyn Runner) -> bool {
        let Some(stop) = &mut self.stop else { return false };
        match stop.termed {
            None => {
                if runner.signal(&self.key, Signal::SIGTERM, moment.now) {
                    stop.termed = Some(moment.now);
                    return true;
                }
                false
            }
            Some(termed) => {
                let due = moment.now >= termed.plus_secs(stop.kill_after_secs)
                    && stop.killed.is_none_or(|killed| moment.now >= killed.plus(KILL_AGAIN));
                if due && runner.signal(&self.key, Signal::SIGKILL, moment.now) {
                    stop.killed = Some(moment.now);
                    return true;
                }
                false
            }
        }
    }

    /// A moment by the server's clock, counted from the member's start where that is known: what it ran is then
    /// exact, and its moments keep their order, however that clock is seen just now.
    fn told_at(&self, moment: &Moment, at: BootTime) -> DateTime<Utc> {
        match (self.started, self.started_at) {
            (Some(since), Some(started_at)) => ServerTime::new(started_at, since).at(at),
            _ => moment.server_time.at(at),
        }
    }

    fn finish(&mut self, exit: Exit, moment: &Moment) -> bool {
        self.lease_lost |= exit.lease_lost;
        self.pid = self.pid.or(exit.pid);
        if let Some(since) = exit.started {
            self.started = Some(since);
            self.started_at.get_or_insert(moment.server_time.at(since));
        }
        let at = self.told_at(moment, exit.at);
        self.checkpointed_at = self.checkpointed_at.map(|written| written.min(at));
        // Asked for a checkpoint and gone with success: that was the answer.
        let answered = self.leave.as_ref().is_some_and(|leave| {
            leave.checkpoint && leave.signalled && self.checkpoint == CheckpointMode::OnSignal
        });
        if answered && exit.exit_code == Some(0) {
            self.checkpointed_at = Some(at);
        }
        info!(
            job = %self.key.job_id, run = self.key.run_number, member = self.key.member,
            exit_code = exit.exit_code, signal = exit.signal, start_error = exit.start_error, "ended"
        );
        self.end = Some(MemberEnd {
            at,
            exit_code: exit.exit_code,
            signal: exit.signal,
            start_error: exit.start_error,
            lease_lost: self.lease_lost,
            vanished: false,
            asked: self.asked,
            timed_out: self.timed_out,
        });
        true
    }

    /// The machine was booted since: nothing of it runs, but its end may be on disk.
    pub(crate) fn survive_boot(&mut self, moment: &Moment, runner: &mut dyn Runner) {
        let seen = runner.observe(&self.key, moment.now);
        // Moments of another boot mean nothing in this one.
        self.started = None;
        match seen {
            Observed::Ended(exit) => self.finish(Exit { at: moment.now, started: None, ..exit }, moment),
            _ => self.vanish(moment),
        };
    }

    fn vanish(&mut self, moment: &Moment) -> bool {
        warn!(job = %self.key.job_id, run = self.key.run_number, "vanished: no trace of it, and no exit status");
        self.end = Some(MemberEnd {
            at: self.told_at(moment, moment.now),
            exit_code: None,
            signal: None,
            start_error: None,
            lease_lost: self.lease_lost,
            vanished: true,
            asked: self.asked,
            timed_out: self.timed_out,
        });
        true
    }

    /// It never ran.
    pub(crate) fn fail_to_start(&mut self, error: String, moment: &Moment) {
        let exit = Exit::never_ran(moment.now, error);
        self.finish(exit, moment);
    }

    /// Told to end before it was ever seen here.
    pub(crate) fn never_was(&mut self, moment: &Moment) {
        self.asked = true;
        self.vanish(moment);
    }
}

/// `USR1` or `SIGUSR1`.
fn parse_signal(name: &str) -> Option<Signal> {
    let name = name.trim().to_ascii_uppercase();
    if name.starts_with("SIG") { name.parse().ok() } else { format!("SIG{name}").parse().ok() }
}
