//! The process table: who is whose child, and who carries a job's marks.
//!
//! It refuses to name a process by its pid alone where the pid may have been given to another.

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use reeve_wire::report::MemberKey;
use std::collections::BTreeMap;
use std::fs;
use uuid::Uuid;

/// All pids of the moment.
fn pids() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()))
}

/// The fields of `/proc/<pid>/stat` after the name, which may hold anything.
fn stat(pid: i32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// When it was started, in clock ticks since boot: with the pid it names a process once and for all.
pub(crate) fn start_ticks(pid: i32) -> Option<u64> {
    stat(pid)?.get(19)?.parse().ok()
}

/// Children of `parent`, zombies left out when `alive`.
pub(crate) fn children(parent: i32) -> Vec<i32> {
    let parent = parent.to_string();
    pids().filter(|pid| stat(*pid).is_some_and(|fields| fields.get(1) == Some(&parent))).collect()
}

/// Sends a signal to a process group whose leader is still the one that was meant. False when it is gone.
pub(crate) fn signal_group(leader: i32, start: u64, signal: Signal) -> bool {
    start_ticks(leader) == Some(start) && killpg(Pid::from_raw(leader), signal).is_ok()
}

/// Processes that carry the marks of this node's jobs, by the member they belong to.
pub(crate) fn marked(node_id: Uuid) -> BTreeMap<i32, MemberKey> {
    let us = i32::try_from(std::process::id()).unwrap_or(0);
    let node_id = node_id.to_string();
    pids()
        .filter(|pid| *pid != us)
        .filter_map(|pid| {
            let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
            Some((pid, member_of(&environ, &node_id)?))
        })
        .collect()
}

fn member_of(environ: &[u8], node_id: &str) -> Option<MemberKey> {
    let value = |name: &str| {
        environ
            .split(|byte| *byte == 0)
            .filter_map(|entry| std::str::from_utf8(entry).ok())
            .find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='))
    };
    if value("REEVE_NODE_ID")? != node_id {
        return None;
    }
    Some(MemberKey {
        job_id: value("REEVE_JOB_ID")?.parse().ok()?,
        run_number: value("REEVE_RUN")?.parse().ok()?,
        member: value("REEVE_RANK")?.parse().ok()?,
    })
}

/// Kills everything that carries a mark and for which `keep` is false. Answers how many.
pub(crate) fn sweep(node_id: Uuid, keep: impl Fn(&MemberKey) -> bool) -> usize {
    let strays: Vec<i32> =
        marked(node_id).into_iter().filter(|(_, key)| !keep(key)).map(|(pid, _)| pid).collect();
    strays.iter().filter(|pid| kill(Pid::from_raw(**pid), Signal::SIGKILL).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_pid_and_start() {
        let us = i32::try_from(std::process::id()).unwrap();
        let start = start_ticks(us).unwrap();
        assert!(!signal_group(us, start + 1, Signal::SIGCONT), "another start is another process");
        let child = std::process::Command::new("sleep").arg("5").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(children(us).contains(&pid));
        let mut child = child;
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!children(us).contains(&pid));
    }

    #[test]
    fn marks_of_another_node_are_not_ours() {
        let environ = b"REEVE_NODE_ID=a\0REEVE_JOB_ID=00000000-0000-0000-0000-000000000007\0REEVE_RUN=2\0REEVE_RANK=1\0";
        let key = MemberKey { job_id: Uuid::from_u128(7), run_number: 2, member: 1 };
        assert_eq!(member_of(environ, "a"), Some(key));
        assert_eq!(member_of(environ, "b"), None);
        assert_eq!(member_of(b"REEVE_NODE_ID=a\0REEVE_RUN=2\0", "a"), None);
    }
}
