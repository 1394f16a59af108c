//! The machine's clock since boot: it is the same for all its processes, counts time asleep, and nobody sets it.
//!
//! Everything that the agent measures (leases, graces, time limits) is measured here, and so survives both its
//! own restart and a wall clock that jumps. It refuses to be compared across boots: see [`boot_id`].

use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Milliseconds since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct BootTime(pub(crate) i64);

impl BootTime {
    pub(crate) fn now() -> Self {
        let since_boot = clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(Duration::ZERO, Duration::from);
        Self(i64::try_from(since_boot.as_millis()).unwrap_or(i64::MAX))
    }

    pub(crate) fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    pub(crate) fn plus_secs(self, secs: u32) -> Self {
        self.plus(Duration::from_secs(u64::from(secs)))
    }

    /// How long after `earlier`; zero when it is not.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// Differs after each boot: what was written under another one says nothing about now.
pub(crate) fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}
