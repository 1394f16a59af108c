//! Everything that Reeve keeps, in PostgreSQL: all SQL stands here.
//!
//! [`write_tx::WriteTx`] changes things and cannot commit without an event; [`connect::Store`] reads. This crate
//! refuses to read the clock or the environment, to decide rules (those are `reeve-core`'s), and to let anybody
//! else speak SQL.

pub mod audit;
pub mod audit_state;
pub mod beat;
pub mod budgets;
pub mod connect;
pub mod deliveries;
pub mod dependencies;
pub mod error;
pub mod escalations;
pub mod event;
pub mod evictions;
pub mod feed;
pub mod gauges;
pub mod gpu_use;
pub mod idempotency;
pub mod idle;
pub mod jobs;
pub mod join_tokens;
mod lanes;
mod ledger;
pub mod loans;
pub mod logs;
pub mod maintenance_windows;
pub mod memberships;
pub mod migrate;
pub mod money;
pub mod nodes;
pub mod notification_settings;
pub mod notify;
pub mod oidc;
pub mod oidc_sign_in;
pub mod operations;
pub mod overview;
pub mod page;
pub mod planned_starts;
pub mod policy;
pub mod pools;
pub mod priority_budgets;
pub mod private_postgres;
pub mod queues;
pub mod quota_use;
pub mod quotas;
pub mod reach;
pub mod reclaims;
mod release;
pub mod report;
pub mod reservations;
pub mod rights;
pub mod row;
pub mod runs;
pub mod schedule;
pub mod seal;
pub mod sessions;
pub mod signal;
pub mod submit;
mod submit_one;
mod submit_rows;
pub mod teams;
pub mod tokens;
pub mod users;
pub mod version;
pub mod webhooks;
pub mod workload_rules;
pub mod write_tx;

pub use connect::{ConnectOptions, Store};
pub use error::StoreError;
pub use write_tx::{Actor, NewEvent, WriteContext, WriteTx};
