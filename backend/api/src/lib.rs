//! HTTP: routes, rights at the door, problems, the OpenAPI document, and the console's files.
//!
//! A handler is five sentences: parse, load, decide, write, commit. This crate refuses to hold SQL, to know the
//! worker, to read the clock or the environment, and to tell outside what broke inside.

pub mod app;
mod auth;
pub mod bootstrap;
mod budget_gate;
mod console;
pub mod denials;
pub mod extract;
mod installation;
mod layers;
mod oidc;
pub mod openapi;
mod openapi_words;
pub mod problem;
pub mod refs;
mod reply;
mod router;
mod routes;
mod serve;

pub use app::{AppState, Leases, Settings};
pub use router::router;
pub use serve::{ServeError, serve};
