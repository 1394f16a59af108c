//! `reeve bench`: measures, prints, asserts nothing.
//!
//! Each figure stands beside its target and, where one can run here, beside a reference measured in the same run. The
//! exit code is 0 whatever falls short: a benchmark is no test.

mod admission;
mod audit;
mod audit_live;
mod ceiling;
pub(crate) mod command;
mod cycle;
mod earth;
mod exports;
mod idle;
mod packing;
mod philly;
mod report;
mod requests;
mod service;
mod site;
mod states;
mod stream;
mod timing;
