//! What other issuers say about people and pipelines: their documents and keys, the code exchanged, the token verified,
//! and who that is here.
//!
//! Only issuers that an administrator has named are ever asked; a token chooses among them and names none. This part
//! refuses symmetric signatures, tokens without an audience of ours, and redirects.

pub(crate) mod admit;
pub(crate) mod code;
mod fetch;
mod issuers;
pub(crate) mod verify;

pub(crate) use fetch::issuer_url;
pub(crate) use issuers::Issuers;
