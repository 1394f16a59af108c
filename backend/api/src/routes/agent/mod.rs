//! What agents call: join, register, report, desired state, logs. Reached only with a node's credential (join: with
//! a one-time token); no user token opens it, and a node's credential opens nothing else.

pub(crate) mod credential;
pub(crate) mod desired;
mod desired_view;
mod inventory;
pub(crate) mod join;
pub(crate) mod logs;
pub(crate) mod register;
pub(crate) mod report;
pub(crate) mod samples;
