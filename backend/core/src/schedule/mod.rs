//! The planner: snapshot in, plan out.

pub mod plan;
pub mod snapshot;
