//! Talks to the server as any program would: REST, JSON, problem documents.

mod credentials;
mod error;
mod http;

pub(crate) use credentials::Credentials;
pub(crate) use error::ClientError;
pub(crate) use http::{Call, Client};
