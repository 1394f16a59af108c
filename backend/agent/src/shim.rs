//! `reeve-agent exec-shim`: the small process between the agent and a job, one for each member.
//!
//! It leads its own session, so nothing that happens to the agent's reaches it. Its standard input is the
//! member's `launch.json`, locked: the lock lives as long as the shim, and tells a restarted agent that the
//! job is looked after. It starts the command in a process group of its own, waits, ends whatever the command left
//! behind (as subreaper it inherits every descendant, wherever it hid), and writes `exit.json`. Alone it does
//! one more thing: when the lease is long over, which means that no agent is there to do it, it ends the job.
//!
//! It refuses to know the server, to forward signals, and to say that a job has ended while anything of it lives.

use crate::boot_time::BootTime;
use crate::files::{self, Durability};
use crate::lease::{KILL_AFTER_SECS, Lease};
use crate::processes;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, setsid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) const LAUNCH: &str = "launch.json";
pub(crate) const STARTED: &str = "started.json";
pub(crate) const EXIT: &str = "exit.json";

/// What the shim is asked to start. It wipes the file once it has read it: variables may be secrets.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) command: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cwd: PathBuf,
    /// uid and gid, when jobs run as another user.
    pub(crate) user: Option<(u32, u32)>,
    pub(crate) lease: PathBuf,
}

/// The command runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Started {
    pub(crate) pid: i32,
    pub(crate) start_ticks: u64,
    pub(crate) at: BootTime,
}

/// It has ended, and nothing of it is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exit {
    pub(crate) at: BootTime,
    /// When it had started: a short job may be over before anybody saw it run.
    #[serde(default)]
    pub(crate) started: Option<BootTime>,
    #[serde(default)]
    pub(crate) pid: Option<i32>,
    #[serde(default)]
    pub(crate) exit_code: Option<i32>,
    /// Without `SIG`.
    #[serde(default)]
    pub(crate) signal: Option<String>,
    #[serde(default)]
    pub(crate) start_error: Option<String>,
    #[serde(default)]
    pub(crate) lease_lost: bool,
}

impl Exit {
    pub(crate) fn never_ran(at: BootTime, error: String) -> Self {
        let start_error = Some(error);
        Self { at, started: None, pid: None, exit_code: None, signal: None, start_error, lease_lost: false }
    }
}

/// A signal's name as the wire spells it.
pub(crate) fn signal_name(signal: Signal) -> String {
    signal.as_str().trim_start_matches("SIG").to_owned()
}

/// The whole life of a shim.
pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    let launch = read_launch()?;
    // Fails only for a group leader, which has a session to itself already.
    let _ = setsid();
    nix::sys::prctl::set_child_subreaper(true)?;
    let exit = match spawn(&launch) {
        Ok(child) => attend(&launch, folder, child)?,
        Err(error) => Exit::never_ran(BootTime::now(), error),
    };
    write_surely(&folder.join(EXIT), &exit);
    Ok(())
}

fn read_launch() -> anyhow::Result<Launch> {
    let mut text = Vec::new();
    let mut file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    file.read_to_end(&mut text)?;
    let launch = serde_json::from_slice(&text)?;
    file.set_len(0)?;
    Ok(launch)
}

/// The command in a process group of its own, with exactly its environment; or why not, in words.
fn spawn(launch: &Launch) -> Result<i32, String> {
    let Some((program, arguments)) = launch.command.split_first() else {
        return Err("the command is empty".to_owned());
    };
    // Asked before: the error of exec does not say whether the program or the directory is missing.
    if !launch.cwd.is_dir() {
        return Err(format!("no such directory: {}", launch.cwd.display()));
    }
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(&launch.env)
        .current_dir(&launch.cwd)
        .stdin(Stdio::null())
        .process_group(0);
    if let Some((uid, gid)) = launch.user {
        command.uid(uid).gid(gid);
    }
    match command.spawn() {
        // The handle is let go on purpose: `attend` waits for the process itself, without reaping it.
        Ok(child) => i32::try_from(child.id()).map_err(|error| error.to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(format!("no such command: {program}")),
        Err(error) => Err(format!("cannot start {program}: {error}")),
    }
}

/// Waits for the command; whatever it leaves behind is ended before this returns.
fn attend(launch: &Launch, folder: &Path, pid: i32) -> anyhow::Result<Exit> {
    let started = Started { pid, start_ticks: processes::start_ticks(pid).unwrap_or(0), at: BootTime::now() };
    write_surely(&folder.join(STARTED), &started);
    let leader = Pid::from_raw(pid);
    let ended = Arc::new(AtomicBool::new(false));
    let lease_lost = Arc::new(AtomicBool::new(false));
    std::thread::spawn({
        let (lease, ended, lease_lost) = (launch.lease.clone(), ended.clone(), lease_lost.clone());
        move || hold_to_lease(&lease, leader, &ended, &lease_lost)
    });
    let status = wait_for(leader)?;
    ended.store(true, Ordering::SeqCst);
    let at = BootTime::now();
    sweep_descendants(leader);
    // Only now may the leader's pid, and with it the group's, be given to others.
    let _ = waitpid(leader, None);
    let (exit_code, signal) = match status {
        WaitStatus::Signaled(_, signal, _) => (None, Some(signal_name(signal))),
        WaitStatus::Exited(_, code) => (Some(code), None),
        other => anyhow::bail!("waited for an end and got {other:?}"),
    };
    let lease_lost = lease_lost.load(Ordering::SeqCst);
    let (started, pid) = (Some(started.at), Some(pid));
    Ok(Exit { at, started, pid, exit_code, signal, start_error: None, lease_lost })
}

/// The leader's end, without reaping it: its pid stays taken.
fn wait_for(leader: Pid) -> nix::Result<WaitStatus> {
    loop {
        match waitid(Id::Pid(leader), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {
            Err(nix::Error::EINTR) => {}
            other => return other,
        }
    }
}

/// Kills the leader's group and every descendant until none is left. What cannot die (a process stuck in a
/// driver) is waited for: its GPU is not free.
fn sweep_descendants(leader: Pid) {
    let us = i32::try_from(std::process::id()).unwrap_or(0);
    let mut pause = Duration::from_millis(5);
    loop {
        let _ = killpg(leader, Signal::SIGKILL);
        let left: Vec<i32> =
            processes::children(us).into_iter().filter(|pid| *pid != leader.as_raw()).collect();
        if left.is_empty() {
            return;
        }
        for pid in left {
            let _ = nix::sys::signal::kill(Pid::from_raw(pid), Signal::SIGKILL);
            let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(500));
    }
}

/// TERM, then KILL, when the lease is long over. A lease that cannot be read is one that nobody holds.
fn hold_to_lease(lease: &Path, leader: Pid, ended: &AtomicBool, lease_lost: &AtomicBool) {
    let mut kill_after_secs = KILL_AFTER_SECS;
    while let Some(lease) = Lease::load(lease) {
        kill_after_secs = lease.kill_after_secs();
        if lease.is_long_over(BootTime::now()) {
            break;
        }
        std::thread::sleep(Duration::from_secs(1));
        if ended.load(Ordering::SeqCst) {
            return;
        }
    }
    if ended.load(Ordering::SeqCst) {
        return;
    }
    lease_lost.store(true, Ordering::SeqCst);
    let _ = killpg(leader, Signal::SIGTERM);
    std::thread::sleep(Duration::from_secs(kill_after_secs.into()));
    if !ended.load(Ordering::SeqCst) {
        let _ = killpg(leader, Signal::SIGKILL);
    }
}

/// Tries until the disk takes it: an exit code must not be lost to a full disk. Gives up only when the folder
/// is gone, because then nobody will ever read it.
fn write_surely<T: Serialize>(path: &Path, value: &T) {
    while let Err(error) = files::write_json(path, value, Durability::Disk) {
        if error.kind() == io::ErrorKind::NotFound {
            return;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}
