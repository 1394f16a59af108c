//! The five kinds of job. A kind gives the default rules; [`crate::policy`] holds them.

use crate::text_enum;

text_enum! {
    /// What sort of work a job is.
    Kind {
        Training = "training",
        Inference = "inference",
        Experiment = "experiment",
        Evaluation = "evaluation",
        Batch = "batch",
    }
}
