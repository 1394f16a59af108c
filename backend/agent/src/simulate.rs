//! Many simulated nodes in one process, over the real protocol: for trials, demonstrations and load.
//!
//! Each has its own state directory, credential and lease; they share one HTTP client. Refuses to run a real
//! process.

use crate::files::{self, Durability};
use crate::gpus::GpuSpec;
use crate::inventory::{Description, parse_node_name};
use crate::run::{self, MakeRunner, NodeOptions};
use crate::runner::SimulatedRunner;
use crate::server::Server;
use anyhow::Context;
use reeve_core::clock::SharedClock;
use std::path::PathBuf;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// What the nodes have in common.
pub(crate) struct Fleet {
    pub(crate) nodes: u32,
    pub(crate) prefix: String,
    pub(crate) server: Server,
    pub(crate) state_dir: PathBuf,
    pub(crate) join_token: Option<String>,
    pub(crate) description: Description,
    pub(crate) gpus: GpuSpec,
    pub(crate) time_scale: f64,
    pub(crate) stop_jobs_on_exit: bool,
    pub(crate) keep: Duration,
    pub(crate) sample_every: Duration,
}

/// Runs them until `leave` is cancelled; the first one that fails ends all.
pub(crate) async fn run(fleet: Fleet, clock: SharedClock, leave: CancellationToken) -> anyhow::Result<()> {
    let progress = fleet.state_dir.join("progress");
    files::make_folder(&progress, 0o700).with_context(|| progress.display().to_string())?;
    let mut tasks = JoinSet::new();
    for index in 0..fleet.nodes {
        let options = options(&fleet, index, progress.clone())?;
        tasks.spawn(run::run(options, clock.clone(), leave.clone()));
    }
    let mut outcome = Ok(());
    while let Some(ended) = tasks.join_next().await {
        let ended = ended.context("a node's task panicked").and_then(|ended| ended);
        if ended.is_err() && outcome.is_ok() {
            outcome = ended;
            leave.cancel();
        }
    }
    outcome
}

fn options(fleet: &Fleet, index: u32, progress: PathBuf) -> anyhow::Result<NodeOptions> {
    let name = parse_node_name(&format!("{}{index}", fleet.prefix)).map_err(anyhow::Error::msg)?;
    let time_scale = fleet.time_scale;
    let runner: MakeRunner =
        Box::new(move |state, _| Box::new(SimulatedRunner::new(state.members(), progress, time_scale)));
    Ok(NodeOptions {
        gpus: fleet.gpus.source(&name)?,
        server: fleet.server.clone(),
        state_dir: fleet.state_dir.join(&name),
        name,
        checkpoint_root: None,
        join_token: fleet.join_token.clone(),
        description: fleet.description.clone(),
        runner,
        durability: Durability::Boot,
        tick: Duration::from_millis(50),
        stop_jobs_on_exit: fleet.stop_jobs_on_exit,
        log_limit_bytes: 1024 * 1024,
        log_bytes_per_sec: 1024 * 1024,
        keep: fleet.keep,
        sample_every: fleet.sample_every,
        stagger: Duration::from_millis(u64::from(fleet.nodes) * 10),
    })
}
