//! The commands, a file each.

pub(crate) mod act;
pub(crate) mod admin;
pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod join_token;
pub(crate) mod list;
pub(crate) mod login;
pub(crate) mod logs;
pub(crate) mod maintenance;
pub(crate) mod migrate;
pub(crate) mod notification;
pub(crate) mod oidc;
pub(crate) mod openapi;
pub(crate) mod pool;
pub(crate) mod postgres;
pub(crate) mod read_secret;
pub(crate) mod reservation;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod show;
pub(crate) mod submit;
pub(crate) mod webhook;
pub(crate) mod what_if;
pub(crate) mod workload;
