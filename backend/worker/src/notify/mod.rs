//! Telling others: sealed events become messages in an outbox, and messages are sent until they arrive or are given up.
//!
//! What is sent where is judged by the address that a name resolves to, at the moment of connecting. This part refuses to
//! follow redirects, to use proxies, and to wait for a slow receiver longer than 15 s.

pub mod deliver;
pub mod fan_out;
mod mail;
mod message;
mod outbound;
mod retry;
mod sign;

pub use mail::{Mail, MailError};
pub use outbound::{Outbound, OutboundError};
