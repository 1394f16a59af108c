//! A submission as JSON.

use reeve_core::job_spec::{RawDependency, RawJob};
use serde::Deserialize;
use serde_json::Number;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A job to run. Numbers are read as written and judged by core, so that a refusal names the field and its range.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubmitJob {
    /// 1 to 200 characters, no control characters.
    pub name: String,
    /// Slug or id.
    pub team: String,
    /// Slug or id; the team's oldest queue that takes the kind when left out.
    pub queue: Option<String>,
    /// `training` (default), `inference`, `experiment`, `evaluation` or `batch`.
    pub kind: Option<String>,
    /// A priority class; the kind's default when left out.
    pub priority: Option<String>,
    /// GPUs of each member; 1 when left out. 0 = CPU-only, which needs `cpu_milli`.
    #[schema(value_type = Option<u32>, maximum = 1024)]
    pub gpus: Option<Number>,
    /// A share of each GPU, in thousandths.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub gpu_milli: Option<Number>,
    #[schema(value_type = Option<i64>)]
    pub gpu_memory_mib: Option<Number>,
    #[schema(value_type = Option<i64>)]
    pub cpu_milli: Option<Number>,
    #[schema(value_type = Option<i64>)]
    pub memory_mib: Option<Number>,
    /// Members of the gang; 1 when left out.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 10000)]
    pub replicas: Option<Number>,
    /// With `max_replicas`: an elastic job.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 10000)]
    pub min_replicas: Option<Number>,
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 10000)]
    pub max_replicas: Option<Number>,
    /// Acceptable pools in order; any when left out.
    #[serde(default)]
    pub pools: Vec<String>,
    pub gpu_model: Option<String>,
    #[serde(default)]
    pub node_labels: BTreeMap<String, String>,
    pub require_topology: Option<String>,
    pub prefer_topology: Option<String>,
    /// `preferred` (when left out) or `required`: all GPUs of a member in one NVLink domain of its node.
    pub nvlink: Option<String>,
    #[serde(default)]
    pub rdma: bool,
    #[schema(value_type = Option<i64>)]
    pub time_limit_secs: Option<Number>,
    /// False: never evicted, so it lives only inside the guarantee. True when left out.
    pub preemptible: Option<bool>,
    /// False: waits even if others could be evicted for it. True when left out.
    pub evict_others: Option<bool>,
    /// False: cancelled instead of requeued when evicted. True when left out.
    pub requeue: Option<bool>,
    /// `none` (default), `on_signal` or `periodic`.
    pub checkpoint: Option<String>,
    /// `USR1` when left out.
    pub checkpoint_signal: Option<String>,
    /// How often it may fail and be tried again; 0 when left out.
    #[schema(value_type = Option<u32>, maximum = 100)]
    pub max_failures: Option<Number>,
    /// The program and its arguments.
    pub command: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    pub working_dir: Option<String>,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Stands in line without starting until released.
    #[serde(default)]
    pub hold: bool,
    /// Jobs submitted before whose ends it waits for, all of them. One that ends otherwise than wanted cancels it.
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub depends_on: Vec<SubmitDependency>,
}

/// Another job, and how it has to end.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubmitDependency {
    /// Its id.
    pub job: String,
    /// `ok` (default): succeeded; `any`: in any way; `failed`: failed or cancelled.
    pub condition: Option<String>,
}

/// Many jobs, all or none.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubmitBatch {
    #[schema(max_items = 1000)]
    pub jobs: Vec<SubmitJob>,
}

impl From<SubmitJob> for RawJob {
    fn from(body: SubmitJob) -> Self {
        Self {
            name: body.name,
            team: body.team,
            queue: body.queue,
            kind: body.kind,
            priority: body.priority,
            gpus: body.gpus,
            gpu_milli: body.gpu_milli,
            gpu_memory_mib: body.gpu_memory_mib,
            cpu_milli: body.cpu_milli,
            memory_mib: body.memory_mib,
            replicas: body.replicas,
            min_replicas: body.min_replicas,
            max_replicas: body.max_replicas,
            pools: body.pools,
            gpu_model: body.gpu_model,
            node_labels: body.node_labels,
            require_topology: body.require_topology,
            prefer_topology: body.prefer_topology,
            nvlink: body.nvlink,
            rdma: body.rdma,
            time_limit_secs: body.time_limit_secs,
            preemptible: body.preemptible,
            evict_others: body.evict_others,
            requeue: body.requeue,
            checkpoint: body.checkpoint,
            checkpoint_signal: body.checkpoint_signal,
            max_failures: body.max_failures,
            command: body.command,
            env: body.env,
            working_dir: body.working_dir,
            labels: body.labels,
            hold: body.hold,
            depends_on: body
                .depends_on
                .into_iter()
                .map(|on| RawDependency { job: on.job, condition: on.condition })
                .collect(),
        }
    }
}
