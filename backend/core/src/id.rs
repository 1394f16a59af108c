//! Identifiers: UUIDv7 newtypes, minted from the injected clock so that they sort by creation.
//!
//! An id says which row, never what may be done with it: rights are [`crate::access`]'s.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::{NoContext, Timestamp, Uuid};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new id carrying the millisecond of `now`; the rest is random.
            #[must_use]
            pub fn mint(now: DateTime<Utc>) -> Self {
                Self(mint(now))
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}

ids! {
    /// A pool: nodes of one GPU model, interchangeable for quota.
    PoolId,
    /// A node of the team tree: organisation, department or team.
    TeamId,
    /// A machine with an agent.
    NodeId,
    /// One physical GPU of a node.
    GpuId,
    /// A queue of a team.
    QueueId,
    /// A job: a gang that starts together.
    JobId,
    /// One attempt of a job. Reports carry the run's *number*; this is its row.
    RunId,
    /// A person or service account.
    UserId,
    /// One eviction: GPUs taken from one job for one cause.
    EvictionId,
    /// One reclaim: the set of evictions decided together for one asking job.
    ReclaimId,
    /// GPUs of a pool kept for a team from one moment to another.
    ReservationId,
    /// A time in which nodes take no work.
    MaintenanceWindowId,
    /// A request for more than the rules give.
    EscalationId,
    /// An audit event.
    EventId,
    /// Anything else that has a row: tokens, sessions, credentials.
    RowId,
}

fn mint(now: DateTime<Utc>) -> Uuid {
    let secs = u64::try_from(now.timestamp()).unwrap_or(0);
    Uuid::new_v7(Timestamp::from_unix(NoContext, secs, now.timestamp_subsec_nanos()))
}
