//! The REST API and the agents' protocol: the real router on a real PostgreSQL, one database a test.
//!
//! A test is a sentence and its data; what all share is in `reeve_tests`.

mod approvals;
mod approvals_in_force;
mod audit;
mod budget_exceptions;
mod calendar;
mod clocks;
mod dependencies;
mod gather;
mod gpu_use;
mod history;
mod idempotency;
mod identity;
mod idle;
mod jobs;
mod logs;
mod metrics;
mod money;
mod money_month;
mod money_tools;
mod needs;
mod oidc;
mod pages;
mod patches;
mod readiness;
mod refusals;
mod rules;
mod sessions;
mod timeline;
mod webhooks;
mod what_if;
