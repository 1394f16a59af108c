//! The server's clock as seen from here: its last word plus the time since boot that has passed.
//!
//! Times in reports are the server's, so a node whose clock is off by hours still tells a true story. It
//! refuses to read the node's wall clock after the first answer.

use crate::boot_time::BootTime;
use chrono::{DateTime, TimeDelta, Utc};

#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerTime {
    said: DateTime<Utc>,
    at: BootTime,
}

impl ServerTime {
    /// `said` was the server's time at `at` (or, before any answer, the node's own).
    pub(crate) fn new(said: DateTime<Utc>, at: BootTime) -> Self {
        Self { said, at }
    }

    /// What the server's clock showed at a moment of this boot.
    pub(crate) fn at(&self, moment: BootTime) -> DateTime<Utc> {
        let delta = TimeDelta::milliseconds(moment.0.saturating_sub(self.at.0));
        self.said.checked_add_signed(delta).unwrap_or(self.said)
    }

    /// When, here, the server's clock will show `time`.
    pub(crate) fn when(&self, time: DateTime<Utc>) -> BootTime {
        BootTime(self.at.0.saturating_add(time.signed_duration_since(self.said).num_milliseconds()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_clock_hours_off_does_not_move_the_server_s_times() {
        let said: DateTime<Utc> = "2026-01-02T03:04:05Z".parse().unwrap();
        let time = ServerTime::new(said, BootTime(1_000));
        assert_eq!(time.at(BootTime(61_000)), said + TimeDelta::seconds(60));
        assert_eq!(time.at(BootTime(0)), said - TimeDelta::seconds(1));
        assert_eq!(time.when(said + TimeDelta::seconds(5)), BootTime(6_000));
        assert_eq!(time.when(time.at(BootTime(42))), BootTime(42));
    }
}
