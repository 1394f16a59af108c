//! The lease: until when the node may run its jobs without hearing from the server.
//!
//! It is a small file, so that the shims can hold to it while no agent runs: the server gives a node's GPUs
//! away after the lease, whoever of the agent's processes is alive. It refuses to be extended by anything but
//! an answer of the server.

use crate::boot_time::{BootTime, boot_id};
use crate::files::{self, Durability};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// The shims wait this much longer than the agent, which does it better when it is alive.
pub(crate) const SHIM_MARGIN_SECS: u32 = 5;

/// TERM to KILL when the lease is over: the server waits 30 seconds beyond the lease.
pub(crate) const KILL_AFTER_SECS: u32 = 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lease {
    boot_id: String,
    until: BootTime,
}

impl Lease {
    /// A lease that the server granted in answer to what was sent at `sent`: counted from the sending, because
    /// the server may have counted from just after.
    pub(crate) fn granted(sent: BootTime, secs: u32) -> Self {
        Self { boot_id: boot_id(), until: sent.plus_secs(secs) }
    }

    pub(crate) fn is_over(&self, now: BootTime) -> bool {
        now >= self.until
    }

    /// Whether a shim must act, because no agent did.
    pub(crate) fn is_long_over(&self, now: BootTime) -> bool {
        now >= self.until.plus_secs(SHIM_MARGIN_SECS)
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
        let lease = Lease::granted(BootTime(1_000), 60);
        assert!(!lease.is_over(BootTime(60_999)));
        assert!(lease.is_over(BootTime(61_000)));
        assert!(!lease.is_long_over(BootTime(65_999)));
        assert!(lease.is_long_over(BootTime(66_000)));
    }

    #[test]
    fn another_boot_s_lease_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lease.json");
        let lease = Lease { boot_id: "another".to_owned(), until: BootTime(i64::MAX) };
        lease.save(&path).unwrap();
        assert_eq!(Lease::load(&path), None);
        let ours = Lease::granted(BootTime::now(), 60);
        ours.save(&path).unwrap();
        assert_eq!(Lease::load(&path), Some(ours));
    }
}
