//! The one list of routes. The folder listing is the table of contents: a resource a folder, a verb a file.

mod auth;
mod health;
mod list;
mod me;
mod members;
mod policy;
pub(crate) mod pools;
mod teams;
mod tokens;
mod users;

pub(crate) use list::split;
