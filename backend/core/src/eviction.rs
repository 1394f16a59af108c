//! Evictions: taking GPUs from a running job, and why.

use crate::text_enum;

text_enum! {
    /// Why GPUs are taken.
    EvictionCause {
        /// The owner wants its guarantee back.
        Reclaim = "reclaim",
        /// A higher class of the same team.
        Preemption = "preemption",
        /// Priority across teams, loans only.
        BorrowPreemption = "borrow_preemption",
        /// Surplus is shared out more evenly.
        Rebalance = "rebalance",
        /// The job moves: it runs again where space is promised to it, and another starts in its place.
        Consolidation = "consolidation",
        Idle = "idle",
        Drain = "drain",
        QuotaLowered = "quota_lowered",
        Operator = "operator",
    }
}

text_enum! {
    /// How an eviction went.
    EvictionOutcome {
        /// The job has been told and its grace runs.
        Leaving = "leaving",
        /// It left and stands in line again.
        Requeued = "requeued",
        /// It left and cannot be requeued.
        Cancelled = "cancelled",
        /// It ended by itself during its grace: that end counts.
        EndedItself = "ended_itself",
        /// Only surplus members left; the job runs on.
        Shrunk = "shrunk",
        /// Its node was lost before it confirmed.
        NodeLost = "node_lost",
    }
}

text_enum! {
    /// Where a reclaim stands.
    ReclaimState {
        /// Victims have been told; the space is nominated.
        Waiting = "waiting",
        /// The asking job started in the space.
        Done = "done",
        /// The asking job went away or no longer fits: the space was given back.
        Dropped = "dropped",
        /// The victims did not leave in time.
        TimedOut = "timed_out",
    }
}
