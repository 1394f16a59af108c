//! Queues: where jobs stand in line.

use crate::text_enum;

text_enum! {
    /// How a queue is served.
    QueueOrder {
        /// Nothing overtakes the head.
        StrictFifo = "strict_fifo",
        /// Later jobs may start while the head cannot.
        FifoWithBackfill = "fifo_with_backfill",
    }
}

text_enum! {
    /// Whether a queue takes and serves jobs.
    QueueState {
        Open = "open",
        /// Takes jobs, starts none.
        Held = "held",
        /// Takes none, starts what it has.
        Draining = "draining",
    }
}
