//! Whether a job's GPUs are idle, and what follows (product rules, section 6).
//!
//! Idle is judged over a window of wall-clock time in which nearly all expected samples came, never by a count of samples:
//! an agent that was silent proves nothing. The window is the kind's, widened to what such jobs normally pause: most time in
//! which a healthy job computes nothing is a pause amid its work. What follows is slow and can be stopped at each step by
//! the job itself, which needs only to compute again.
//!
//! It refuses to read samples, to keep what it found, and to evict: it says what is so, and what the next step is.

mod history;
mod judge;
mod rule;
mod sequence;

pub use history::{Pauses, UsualPauses};
pub use judge::{Coverage, SAMPLE_EVERY_SECS, Use, Verdict, judge, window};
pub use rule::{IdleAction, IdleRule};
pub use sequence::{Notice, NoticeState, Step, next, snooze};
