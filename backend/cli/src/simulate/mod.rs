//! `reeve simulate`: what would this policy have done with our last month? A trace, a demand curve or a made-up
//! workload runs on production's planner and a virtual clock, under one policy or several side by side.
//!
//! It refuses to talk to a server, and to invent what a trace does not say.

mod args;
mod command;
mod policies;
mod table;
mod work;

pub(crate) use args::SimulateArgs;
pub(crate) use command::run;
