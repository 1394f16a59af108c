//! What-if: the planner on the live state plus a change that is only imagined, as a difference from today.
//!
//! Both worlds, today's and the imagined one, are planned until nothing changes any more, as if everybody who is asked
//! to leave had left at once. What differs between the two is the answer. Nothing here writes, waits or reads a clock.

mod change;
mod difference;
mod settle;

pub use change::{Change, Unknown, imagine};
pub use difference::{Difference, EvictedJob, LoanChange, ReasonChange, StartedJob, difference};
pub use settle::{MOST_CYCLES, Settled, settle};
