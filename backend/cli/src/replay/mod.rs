//! `reeve replay`: submits a recorded trace of jobs through the REST API, as a pipeline would, and reports what
//! became of them.
//!
//! It refuses to touch the database, and to invent what a trace does not say.

mod command;
mod report;
mod setup;
mod submit;

pub(crate) use command::{ReplayArgs, formats, parse_pair, run};
