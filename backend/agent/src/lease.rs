//! The lease: until when the node may run its jobs without hearing from the server.
//!
//! It is a small file, so that the shims can hold to it while no agent runs: the server gives a node's GPUs
//! away after the lease, whoever of the agent's processes is alive. It refuses to be extended by anything but
//! an answer of the server.

use crate::boot_time::{BootTime, boot_id};
use crate::files::{self, Durability};
use reeve_wire::heartbeat::LEASE_MARGIN_SECS;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// Most that the shims wait longer than the agent, which does it better when it is alive.
const SHIM_MARGIN_SECS: u32 = 5;

/// Most from TERM to KILL when the lease is over.
pub(crate) const KILL_AFTER_SECS: u32 = 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lease {
    boot_id: String,
    until: BootTime,
    /// How long the server waits beyond its end before it gives the GPUs away: all must be gone by then.
    #[serde(default = "default_margin")]
    margin_secs: u32,
}

fn default_margin() -> u32 {
    LEASE_MARGIN_SECS
}

impl Lease {
    /// A lease that the server granted in answer to what was sent at `sent`: counted from the sending, because
    /// the server may have counted from just after.
    pub(crate) fn granted(sent: BootTime, secs: u32, margin_secs: u32) -> Self {
        Self { boot_id: boot_id(), until: sent.plus_secs(secs), margin_secs }
    }

    pub(crate) fn is_over(&self, now: BootTime) -> bool {
        now >= self.until
    }

    /// Whether a shim must act, because no agent did.
    pub(crate) fn is_long_over(&self, now: BootTime) -> bool {
        now >= self.until.plus_secs(SHIM_MARGIN_SECS.min(self.margin_secs / 6))
    }

    /// TERM to KILL when it is over. With what a shim waits before, half of the margin: the rest is for looking
    /// only now and then, and for the kernel to clear away.
    pub(crate) fn kill_after_secs(&self) -> u32 {
        KILL_AFTER_SECS.min(self.margin_secs / 3)
    }

    pub(crate) fn save(&self, path: &Path) -> io::Result<()> {
        files::write_json(path, self, Durability::Boot)
    }

    /// `None` when there never was one, or it is of another boot: then nothing of it runs any more.
    pub(crate) fn load(path: &Path) -> Option<Self> {
        let lease: Self = files::read_json(path).ok().flatten()?;
        (lease.boot_id == boot_id()).then_some(lease)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_from_the_sending_and_the_shims_wait_longer() {
        let lease = Lease::granted(BootTime(1_000), 60, 30);
        assert!(!lease.is_over(BootTime(60_999)));
        assert!(lease.is_over(BootTime(61_000)));
        assert!(!lease.is_long_over(BootTime(65_999)));
        assert!(lease.is_long_over(BootTime(66_000)));
        assert_eq!(lease.kill_after_secs(), 10);
    }

    #[test]
    fn whatever_the_margin_the_shims_are_done_within() {
        for margin_secs in 5..600 {
            let lease = Lease::granted(BootTime(0), 1, margin_secs);
            let acts = (0..).find(|secs| lease.is_long_over(BootTime(secs * 1_000))).unwrap();
            let killed = acts + i64::from(lease.kill_after_secs());
            assert!(killed + 1 < 1 + i64::from(margin_secs), "{margin_secs}: killed at {killed}");
        }
    }

    #[test]
    fn another_boot_s_lease_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lease.json");
        let lease = Lease { boot_id: "another".to_owned(), until: BootTime(i64::MAX), margin_secs: 30 };
        lease.save(&path).unwrap();
        assert_eq!(Lease::load(&path), None);
        let ours = Lease::granted(BootTime::now(), 60, 30);
        ours.save(&path).unwrap();
        assert_eq!(Lease::load(&path), Some(ours));
    }
}
