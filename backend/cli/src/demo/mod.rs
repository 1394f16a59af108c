//! `reeve demo`: a whole installation on this machine, with real processes as jobs, that lends and takes back by
//! itself: PostgreSQL, the server, three agents with simulated GPUs, and a small workload submitted over the REST API.
//!
//! It refuses to be anybody's production system, to write outside its folder (PostgreSQL's excepted, and announced), and
//! to leave a process behind.

mod agents;
mod child;
mod command;
mod drive;
mod folder;
mod logins;
mod seed;
mod watch;
mod workload;

pub(crate) use command::{DemoArgs, run};
