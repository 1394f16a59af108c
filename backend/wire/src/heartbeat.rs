//! Heartbeats: a [`crate::report::Report`] is one; these are the names both sides use for its rhythm.

/// Seconds without the server after which an agent stops its jobs, unless the server says otherwise.
pub const DEFAULT_LEASE_SECS: u32 = 60;

/// Seconds between reports when nothing changes.
pub const DEFAULT_HEARTBEAT_SECS: u32 = 10;

/// Beyond the lease, the server waits this much longer before it gives the GPUs away: the agent needs time to
/// TERM and KILL.
pub const LEASE_MARGIN_SECS: u32 = 30;

/// Most seconds a desired-state poll may wait.
pub const MAX_POLL_SECS: u32 = 30;

/// What a server means that does not say its margin.
pub(crate) fn default_margin() -> u32 {
    LEASE_MARGIN_SECS
}
