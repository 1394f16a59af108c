//! Nodes and GPUs.

use crate::text_enum;

text_enum! {
    /// Whether a node takes work.
    NodeState {
        Ready = "ready",
        /// Runs what it has, takes nothing new.
        Cordoned = "cordoned",
        /// Its work is asked to leave; takes nothing new.
        Draining = "draining",
        /// Its agent's lease ran out: what ran there is gone.
        Lost = "lost",
        /// Taken out of Reeve; kept for history.
        Removed = "removed",
    }
}

text_enum! {
    /// Whether a GPU may be used.
    GpuHealth {
        Healthy = "healthy",
        Sick = "sick",
        /// Not seen in the agent's last inventory.
        Missing = "missing",
    }
}
