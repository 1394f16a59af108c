//! Messages between the server and its agents, versioned.
//!
//! Agents are level-triggered: [`desired::Desired`] gives everything that a node should run, with a
//! generation; the agent converges and answers with [`report::Report`], everything that is. A lost message
//! costs time, never correctness. This crate refuses to know how either side acts.

pub mod desired;
pub mod heartbeat;
pub mod join;
pub mod report;
pub mod samples;

/// The protocol's version. An agent says its own at join and registration; the server refuses what it cannot
/// speak, naming both.
pub const PROTOCOL_VERSION: u32 = 1;

/// The header that carries a node's credential: `Authorization: Bearer reeve_node_…`.
pub const CREDENTIAL_PREFIX: &str = "reeve_node_";

/// A one-time join token's prefix.
pub const JOIN_TOKEN_PREFIX: &str = "reeve_join_";
