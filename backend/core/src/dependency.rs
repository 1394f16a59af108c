//! Jobs that wait for the end of others.

use crate::id::JobId;
use crate::text_enum;
use serde::{Deserialize, Serialize};

text_enum! {
    /// How the other job has to end.
    DependencyCondition {
        /// Succeeded.
        Ok = "ok",
        /// In any way at all.
        Any = "any",
        /// Failed or cancelled.
        Failed = "failed",
    }
}

/// What a job waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    pub job: JobId,
    pub condition: DependencyCondition,
}
