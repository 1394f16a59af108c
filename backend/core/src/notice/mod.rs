//! What people are told of events: which concern whom, and what is said, in both languages.
//!
//! A program reads every event as it is; this is for people, who want few. It refuses to know who has which role, and
//! how anything is sent.

mod say;
mod topic;

pub use say::{Facts, Notice, notice, test_notice};
pub use topic::{Reach, Setting, Topic};
