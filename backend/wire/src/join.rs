//! Joining, once, with a one-time token; and registering, at every start of the agent.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

/// `POST /agent/v1/join` with a one-time token in the body; answers [`Joined`].
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Join {
    /// `reeve_join_…`, shown once when the token was made. It names the pool.
    pub join_token: String,
    pub inventory: Inventory,
}

/// What a node has.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Inventory {
    /// Unique among nodes: lower-case letters, digits, `-` and `.`, at most 63 characters.
    pub node_name: String,
    pub protocol_version: u32,
    pub agent_version: String,
    pub cpu_milli: i64,
    pub memory_mib: i64,
    pub gpus: Vec<GpuInfo>,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Level → place, for example `rack → r1`.
    #[serde(default)]
    pub topology: BTreeMap<String, String>,
    /// NVLink domains as indices of GPUs.
    #[serde(default)]
    pub nvlink: Vec<Vec<u32>>,
    #[serde(default)]
    pub rdma: bool,
    /// Names of cached data sets.
    #[serde(default)]
    pub datasets: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GpuInfo {
    pub index: u32,
    /// The device's own UUID, for example `GPU-6a2f…`.
    pub uuid: String,
    pub model: String,
    pub memory_mib: i64,
    pub healthy: bool,
    /// Why it is not healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_detail: Option<String>,
}

/// The answer to a join. The credential is shown once; the agent keeps it in a file only it can read.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Joined {
    pub node_id: Uuid,
    pub credential: String,
    pub pool: String,
}

/// `POST /agent/v1/register`, at each start of the agent, with the credential.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Register {
    /// Drawn at random at each start of the agent. While one instance's lease runs, another that did not take
    /// over from it (see `previous_instance_id`) is refused with 409.
    pub instance_id: Uuid,
    /// The instance whose state directory this one adopted, if any.
    #[serde(default)]
    pub previous_instance_id: Option<Uuid>,
    pub inventory: Inventory,
    pub sent_at: DateTime<Utc>,
}

/// The answer to a registration.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Registered {
    pub node_id: Uuid,
    pub server_version: String,
    pub server_time: DateTime<Utc>,
    /// The agent stops its jobs by itself when it could not reach the server for this long.
    pub lease_secs: u32,
    /// How long the server waits beyond the lease before it gives the GPUs away: by then everything must be gone.
    #[serde(default = "crate::heartbeat::default_margin")]
    pub lease_margin_secs: u32,
    /// How often it reports at least.
    pub heartbeat_secs: u32,
    /// Most bytes of log kept for one member of a run; the oldest beyond it may be dropped.
    pub log_limit_bytes: u64,
}
