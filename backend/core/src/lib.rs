//! What is true in Reeve: the words, the rules and the planner.
//!
//! Everything here is a pure function of its arguments. This crate refuses to do I/O, to read the
//! clock outside [`clock::SystemClock`], to draw random numbers, and to be async.

pub mod access;
pub mod address;
pub mod approval;
pub mod clock;
pub mod csv_text;
pub mod dependency;
pub mod eviction;
pub mod fair_share;
pub mod id;
pub mod identity;
pub mod idle;
pub mod inventory;
pub mod job;
pub mod job_spec;
pub mod kind;
pub mod lifecycle;
pub mod money;
pub mod node;
pub mod notice;
pub mod policy;
pub mod priority;
pub mod queue;
pub mod quota;
pub mod reason;
pub mod right_size;
pub mod scenario;
pub mod schedule;
pub mod sentence;
pub mod status;
pub mod units;
pub mod what_if;
