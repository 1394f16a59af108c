//! The one list of routes. The folder listing is the table of contents: a resource a folder, a verb a file.

mod agent;
mod approvals;
mod auth;
mod escalations;
mod events;
mod evictions;
mod health;
pub(crate) mod jobs;
mod join_tokens;
mod list;
mod list_work;
mod loans;
mod maintenance_windows;
mod me;
mod members;
pub(crate) mod metrics;
mod nodes;
pub(crate) mod overview;
mod planned_starts;
mod policy;
pub(crate) mod pools;
mod priority_budgets;
mod queues;
mod quotas;
mod reclaims;
mod reservations;
mod runs;
mod sentence_view;
mod teams;
mod time_ahead;
mod tokens;
mod users;
mod what_if;

pub(crate) use list::split;
