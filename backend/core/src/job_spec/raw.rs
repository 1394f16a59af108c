//! A submission as it comes in: nothing is trusted yet.

use serde_json::Number;
use std::collections::BTreeMap;

/// The fields of a submission. Numbers are kept as written, so that 1.5, −1 and 2⁶⁴ are refused with the field's
/// own range rather than with a parser's words.
#[derive(Debug, Clone, Default)]
pub struct RawJob {
    pub name: String,
    pub team: String,
    pub queue: Option<String>,
    pub kind: Option<String>,
    pub priority: Option<String>,
    pub gpus: Option<Number>,
    pub gpu_milli: Option<Number>,
    pub gpu_memory_mib: Option<Number>,
    pub cpu_milli: Option<Number>,
    pub memory_mib: Option<Number>,
    pub replicas: Option<Number>,
    pub min_replicas: Option<Number>,
    pub max_replicas: Option<Number>,
    pub pools: Vec<String>,
    pub gpu_model: Option<String>,
    pub node_labels: BTreeMap<String, String>,
    pub require_topology: Option<String>,
    pub prefer_topology: Option<String>,
    pub nvlink: Option<String>,
    pub rdma: bool,
    pub time_limit_secs: Option<Number>,
    pub preemptible: Option<bool>,
    pub evict_others: Option<bool>,
    pub requeue: Option<bool>,
    pub checkpoint: Option<String>,
    pub checkpoint_signal: Option<String>,
    pub max_failures: Option<Number>,
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub working_dir: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub hold: bool,
    pub depends_on: Vec<RawDependency>,
}

/// Another job, and how it has to end.
#[derive(Debug, Clone, Default)]
pub struct RawDependency {
    pub job: String,
    pub condition: Option<String>,
}
