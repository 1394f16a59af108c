//! The node daemon: it finds out what the node has, asks the server what should run, makes it so, and reports
//! what is.
//!
//! One [`node`] loop owns the members and is the only one that starts or ends them; [`link`] talks to the
//! server, [`logs`] uploads what the jobs write. Jobs are children of a small [`shim`] that outlives the agent,
//! so neither an upgrade nor a `kill -9` of the agent costs a job or its exit code.
//!
//! This crate refuses to decide who runs where: what is not desired is not started, what is no longer desired
//! is stopped, and without the server for a lease's length everything is.

pub mod cli;

mod boot_time;
mod environment;
mod files;
mod gpus;
mod housekeeping;
mod inventory;
mod lease;
mod link;
mod logs;
mod member;
mod node;
mod processes;
mod record;
mod run;
mod runner;
mod server;
mod server_time;
mod shim;
mod simulate;
mod state_dir;
mod telemetry;
