//! The REST API and the agents' protocol: the real router on a real PostgreSQL, one database a test.
//!
//! A test is a sentence and its data; what all share is in `reeve_tests`.

mod idempotency;
mod jobs;
mod pages;
mod refusals;
mod rules;
mod sessions;
mod what_if;
