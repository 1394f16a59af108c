//! What a job asks for, as flags. `submit`, `run` and the `#REEVE` lines of a script have the same ones.
//!
//! Nothing is judged here: the server names the field that it refuses.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Default, Clone, Args)]
pub(crate) struct JobOptions {
    /// The job as JSON or YAML, in the words of the REST API; flags go over it
    #[arg(long, value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Default: the name of the script or program
    #[arg(short = 'J', long)]
    pub(super) name: Option<String>,
    /// Whose GPUs
    #[arg(short = 'A', long)]
    pub(super) team: Option<String>,
    /// Default: the team's first queue
    #[arg(long)]
    pub(super) queue: Option<String>,
    /// training, inference, experiment, evaluation or batch
    #[arg(long)]
    pub(super) kind: Option<String>,
    /// critical, high, normal, low or scavenger
    #[arg(long)]
    pub(super) priority: Option<String>,
    /// Whole GPUs of each replica
    #[arg(short = 'G', long)]
    pub(super) gpus: Option<u32>,
    /// A share of each GPU in thousandths, instead of whole ones
    #[arg(long, value_name = "MILLI")]
    pub(super) gpu_milli: Option<u32>,
    /// The memory that goes with the share
    #[arg(long, value_name = "MIB")]
    pub(super) gpu_memory_mib: Option<u64>,
    #[arg(long, value_name = "MODEL")]
    pub(super) gpu_model: Option<String>,
    /// Thousandths of a processor, of each replica
    #[arg(long, value_name = "MILLI")]
    pub(super) cpu_milli: Option<u64>,
    /// Of each replica
    #[arg(long, value_name = "MIB")]
    pub(super) memory_mib: Option<u64>,
    /// Members that start together
    #[arg(long)]
    pub(super) replicas: Option<u32>,
    /// Elastic: the least members that make sense
    #[arg(long, value_name = "N", conflicts_with = "replicas")]
    pub(super) min_replicas: Option<u32>,
    /// Elastic: as many as there is room for, up to this
    #[arg(long, value_name = "N", conflicts_with = "replicas")]
    pub(super) max_replicas: Option<u32>,
    /// Pools that will do, best first
    #[arg(long, value_delimiter = ',')]
    pub(super) pools: Vec<String>,
    /// Only on nodes with this label
    #[arg(long = "node-label", value_name = "K=V", value_parser = parse_pair)]
    pub(super) node_labels: Vec<(String, String)>,
    /// All members inside one place of this level, for example rack
    #[arg(long, value_name = "LEVEL")]
    pub(super) require_topology: Option<String>,
    /// The same where it costs nothing
    #[arg(long, value_name = "LEVEL")]
    pub(super) prefer_topology: Option<String>,
    /// required: all GPUs of a replica in one NVLink domain
    #[arg(long, value_name = "required|preferred")]
    pub(super) nvlink: Option<String>,
    /// Only on nodes with RDMA
    #[arg(long)]
    pub(super) rdma: bool,
    /// It is ended after that long; a known end lets it start in gaps
    #[arg(long, value_name = "SECS")]
    pub(super) time_limit_secs: Option<u64>,
    /// none, on_signal or periodic
    #[arg(long)]
    pub(super) checkpoint: Option<String>,
    /// The signal that makes it save: USR1, TERM, …
    #[arg(long, value_name = "SIGNAL")]
    pub(super) checkpoint_signal: Option<String>,
    /// How often it may fail and start again
    #[arg(long, value_name = "N")]
    pub(super) max_failures: Option<u32>,
    /// Once evicted, it ends instead of waiting for its next run
    #[arg(long)]
    pub(super) no_requeue: bool,
    #[arg(short = 'e', long = "env", value_name = "K=V", value_parser = parse_pair)]
    pub(super) env: Vec<(String, String)>,
    /// On the node
    #[arg(short = 'D', long, value_name = "DIR")]
    pub(super) working_dir: Option<String>,
    /// For filters and bills
    #[arg(short = 'l', long = "label", value_name = "K=V", value_parser = parse_pair)]
    pub(super) labels: Vec<(String, String)>,
    /// Wait until that job (or all of array:ID) has succeeded; where it cannot, this one is cancelled
    #[arg(long, value_name = "JOB")]
    pub(super) after_ok: Vec<String>,
    /// Wait until that job has ended, however
    #[arg(long, value_name = "JOB")]
    pub(super) after_any: Vec<String>,
    /// Wait until that job has failed or was cancelled
    #[arg(long, value_name = "JOB")]
    pub(super) after_failed: Vec<String>,
    /// Do not start before it is released
    #[arg(short = 'H', long)]
    pub(super) hold: bool,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or("K=V is wanted")?;
    Ok((key.to_owned(), value.to_owned()))
}
