//! The planner: snapshot in, plan out.

pub mod check;
pub mod plan;
pub mod snapshot;
