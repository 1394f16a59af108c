//! What the agent asks of a runner.

use crate::boot_time::BootTime;
use crate::shim::Exit;
use crate::state_dir::folder_name;
use chrono::{DateTime, Utc};
use nix::sys::signal::Signal;
use reeve_wire::desired::DesiredMember;
use reeve_wire::report::MemberKey;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a runner sees of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Observed {
    /// Not running yet.
    Starting,
    Running {
        pid: Option<i32>,
        since: BootTime,
    },
    Ended(Exit),
    /// No trace of it, and no end.
    Vanished,
}

/// What the eviction file says.
#[derive(Debug, Serialize)]
pub(crate) struct Notice<'a> {
    pub(crate) cause: &'a str,
    pub(crate) leave_by: DateTime<Utc>,
    /// Whether the checkpoint signal is sent.
    pub(crate) checkpoint: bool,
}

pub(crate) trait Runner: Send {
    /// Begins to start it. An error means that it never ran, and says why.
    fn start(&mut self, member: &DesiredMember, now: BootTime) -> Result<(), String>;

    fn observe(&mut self, key: &MemberKey, now: BootTime) -> Observed;

    /// Sends a signal to all of the member. False when there is nobody to take it.
    fn signal(&mut self, key: &MemberKey, signal: Signal, now: BootTime) -> bool;

    /// Asks for a checkpoint by the job's signal.
    fn ask_checkpoint(&mut self, key: &MemberKey, signal: Signal, now: BootTime) -> bool {
        self.signal(key, signal, now)
    }

    /// Tells the member by its eviction file.
    fn notify(&mut self, key: &MemberKey, notice: &Notice<'_>);

    /// When the member last said that its checkpoint is written: any number that grows.
    fn acknowledged(&self, key: &MemberKey) -> Option<i64>;

    /// Ends what is left of jobs that nobody looks after; `live` are those that are looked after.
    fn sweep(&mut self, live: &dyn Fn(&MemberKey) -> bool);
}

pub(crate) fn member_folder(members: &Path, key: &MemberKey) -> PathBuf {
    members.join(folder_name(key))
}

pub(crate) fn log_path(members: &Path, key: &MemberKey) -> PathBuf {
    member_folder(members, key).join("log")
}
