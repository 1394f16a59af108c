//! What a node says of its members.

use chrono::{DateTime, Utc};
use reeve_core::job::MemberState;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// `POST /agent/v1/report`: everything the agent knows of, whole, after each change and at each heartbeat. Repeats
/// and reorderings are harmless: states only move forward, and `sequence` drops what is older.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Report {
    pub instance_id: Uuid,
    /// Grows by one with each report of this instance.
    pub sequence: i64,
    /// The newest desired generation the agent has acted on.
    pub generation: i64,
    /// By the agent's own clock: the only moment here that is. All others are by the server's, as its answers told it.
    pub sent_at: DateTime<Utc>,
    pub members: Vec<MemberReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MemberReport {
    pub job_id: Uuid,
    pub run_number: u32,
    pub member: u32,
    #[schema(value_type = String)]
    pub state: MemberState,
    #[serde(default)]
    pub pid: Option<i64>,
    #[serde(default)]
    pub started_at: Option<DateTime<Utc>>,
    /// The job's last checkpoint, when it told the agent (a file or the signal's answer).
    #[serde(default)]
    pub checkpointed_at: Option<DateTime<Utc>>,
    /// Bytes the member has written to its log so far; after its end, all it will ever have. The server has the
    /// whole log once it has stored up to here.
    #[serde(default)]
    pub log_bytes: Option<i64>,
    /// Set when `state` is `ended`.
    #[serde(default)]
    pub end: Option<MemberEnd>,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MemberEnd {
    pub at: DateTime<Utc>,
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The signal's name, for example `KILL`.
    #[serde(default)]
    pub signal: Option<String>,
    /// It never ran: why (no such command, no such directory, …).
    #[serde(default)]
    pub start_error: Option<String>,
    /// The agent ended it because its lease ran out, or because the agent itself was told to stop for good and
    /// gave its lease up.
    #[serde(default)]
    pub lease_lost: bool,
    /// The agent found no trace of it after its own restart.
    #[serde(default)]
    pub vanished: bool,
    /// The agent had been told to end it before it ended.
    #[serde(default)]
    pub asked: bool,
    /// It went over its time limit.
    #[serde(default)]
    pub timed_out: bool,
}

/// The answer to a report.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Reported {
    pub server_time: DateTime<Utc>,
    /// The lease now runs until this moment of the server's clock.
    pub lease_secs: u32,
    /// As in the answer to the registration.
    #[serde(default = "crate::heartbeat::default_margin")]
    pub lease_margin_secs: u32,
    /// Members whose end is recorded: the agent may forget them.
    pub settled: Vec<MemberKey>,
    /// The node's desired generation: fetch it when it is newer.
    pub generation: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct MemberKey {
    pub job_id: Uuid,
    pub run_number: u32,
    pub member: u32,
}

/// `PUT /agent/v1/logs/{job_id}/{run_number}/{member}?offset=N` with raw bytes (≤ 256 KiB): the log from byte N
/// on. Answers [`LogStored`]; an offset the server has already is skipped, a gap is accepted and shown.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LogStored {
    /// The agent goes on from here.
    pub next_offset: i64,
}
