//! Escalations: asked for, looked at, decided, ended. A verb a file.

mod act;
pub(crate) mod approve;
mod asked;
pub(crate) mod body;
pub(crate) mod comment;
pub(crate) mod comments;
pub(crate) mod delegate;
pub(crate) mod deny;
pub(crate) mod list;
mod load;
mod people;
pub(crate) mod preview;
pub(crate) mod preview_request;
mod preview_view;
pub(crate) mod renew;
pub(crate) mod request;
pub(crate) mod review;
pub(crate) mod revoke;
mod route;
pub(crate) mod show;
pub(crate) mod view;
pub(crate) mod withdraw;

pub(crate) use load::views;
