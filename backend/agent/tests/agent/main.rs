//! The agent as a process, against a server that only speaks the wire's types. Jobs are real processes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agent;
mod ends;
mod fake_server;
mod faults;
mod leaving;
mod surroundings;
mod telemetry;
