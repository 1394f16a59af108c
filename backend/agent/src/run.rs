//! One node from its join to the end of its agent: puts the parts together and takes them apart again.
//!
//! Refuses to start a job before the server has answered its registration.

use crate::boot_time::BootTime;
use crate::files::Durability;
use crate::gpus::GpuSource;
use crate::housekeeping::keep_clean;
use crate::inventory::{self, Description};
use crate::link::{BackOff, Link, Saying};
use crate::logs::LogBoard;
use crate::node::{Ended, Node, Parts};
use crate::runner::Runner;
use crate::server::{NodeServer, Server, ServerError};
use crate::state_dir::{Identity, StateDir};
use crate::telemetry::{self, Occupancy};
use anyhow::{Context, bail};
use reeve_core::clock::SharedClock;
use reeve_wire::join::{Inventory, Join};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span, warn};
use uuid::Uuid;

/// Between looks at the GPUs' health.
const GPU_PERIOD: Duration = Duration::from_secs(60);

/// How long a leaving agent waits for the server to take its last words.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Everything that one node's agent needs.
pub(crate) struct NodeOptions {
    pub(crate) name: String,
    pub(crate) server: Server,
    pub(crate) state_dir: PathBuf,
    pub(crate) checkpoint_root: Option<PathBuf>,
    /// Needed for the first start only.
    pub(crate) join_token: Option<String>,
    pub(crate) description: Description,
    pub(crate) gpus: Box<dyn GpuSource>,
    pub(crate) runner: MakeRunner,
    pub(crate) durability: Durability,
    pub(crate) tick: Duration,
    pub(crate) stop_jobs_on_exit: bool,
    pub(crate) log_limit_bytes: u64,
    pub(crate) log_bytes_per_sec: u64,
    pub(crate) keep: Duration,
    pub(crate) stagger: Duration,
    /// Between two looks at how the GPUs are used.
    pub(crate) sample_every: Duration,
}

/// A runner needs the state directory and the node's id, which exist later than the options.
pub(crate) type MakeRunner = Box<dyn FnOnce(&StateDir, Uuid) -> Box<dyn Runner> + Send + Sync>;

/// Runs one node until `leave` is cancelled.
pub(crate) async fn run(
    options: NodeOptions,
    clock: SharedClock,
    leave: CancellationToken,
) -> anyhow::Result<()> {
    let span = info_span!("node", name = options.name);
    run_inside(options, clock, leave).instrument(span).await
}

async fn run_inside(
    options: NodeOptions,
    clock: SharedClock,
    leave: CancellationToken,
) -> anyhow::Result<()> {
    let state = Arc::new(StateDir::open(&options.state_dir, options.checkpoint_root.as_deref())?);
    let inventory = inventory::take(&options.name, &options.description, options.gpus.as_ref())?;
    let identity = tokio::select! {
        identity = identity(&options, &state, &inventory) => identity?,
        () = leave.cancelled() => return Ok(()),
    };
    let server = options.server.as_node(&identity.credential);
    let logs = Arc::new(LogBoard::new(options.log_limit_bytes, options.log_bytes_per_sec));
    let (saying_in, saying) = watch::channel(Saying::default());
    let (heard_in, mut heard) = mpsc::channel(16);
    let (inventory_in, inventory) = watch::channel(inventory);
    let start_over = Arc::new(Notify::new());
    let occupancy = Occupancy::default();
    let gpus: Arc<dyn GpuSource> = Arc::from(options.gpus);
    let parts = Parts {
        state: state.clone(),
        runner: (options.runner)(&state, identity.node_id),
        logs: logs.clone(),
        durability: options.durability,
        tick: options.tick,
        saying: saying_in,
        start_over: start_over.clone(),
        occupancy: occupancy.clone(),
    };
    let mut node = Node::new(parts, &clock);
    node.adopt()?;
    let link = Link {
        server: server.clone(),
        state: state.clone(),
        inventory,
        clock: clock.clone(),
        heard: heard_in,
        saying,
        start_over,
        stagger: options.stagger,
    };
    let mut tasks = JoinSet::new();
    tasks.spawn(link_task(link).in_current_span());
    tasks.spawn(upload_task(logs.clone(), server.clone()).in_current_span());
    tasks.spawn(keep_clean(state.members(), options.keep, clock).in_current_span());
    tasks.spawn(watch_gpus(Arc::clone(&gpus), inventory_in).in_current_span());
    tasks.spawn(telemetry::run(gpus, occupancy, server, options.sample_every).in_current_span());
    let ended = node.run(&mut heard, leave, options.stop_jobs_on_exit).await;
    if ended == Ended::Emptied {
        say_last_words(&mut node, &mut heard, &logs).await;
    }
    tasks.shutdown().await;
    match ended {
        Ended::Fenced(why) => bail!("another agent speaks for this node now: {why}"),
        Ended::Left => info!("leaving; jobs go on, and the next agent on this state directory takes them up"),
        Ended::Emptied => info!("left; no job is running"),
    }
    Ok(())
}

async fn link_task(link: Link) {
    if let Err(error) = link.run().await {
        warn!(%error, "the conversation with the server ended");
    }
}

async fn upload_task(logs: Arc<LogBoard>, server: NodeServer) {
    logs.upload(&server).await;
}

/// Waits, not for long, until the server has taken every end and every log.
async fn say_last_words(node: &mut Node, heard: &mut mpsc::Receiver<crate::link::Heard>, logs: &LogBoard) {
    let until = BootTime::now().plus(LAST_WORDS);
    while !(node.all_settled() && logs.is_drained()) && BootTime::now() < until {
        if let Ok(Some(heard)) = tokio::time::timeout(Duration::from_millis(50), heard.recv()).await {
            node.hear_last(heard);
        }
    }
}

/// Who this node is: as saved, or by joining with the one-time token.
async fn identity(
    options: &NodeOptions,
    state: &StateDir,
    inventory: &Inventory,
) -> anyhow::Result<Identity> {
    if let Some(identity) = state.identity()? {
        if identity.node_name != options.name {
            bail!(
                "this state directory belongs to node {:?}, not {:?}: give --node {} or another --state-dir",
                identity.node_name,
                options.name,
                identity.node_name
            );
        }
        return Ok(identity);
    }
    let Some(join_token) = options.join_token.clone() else {
        bail!(
            "this node has not joined yet: give --join-token-file FILE, or REEVE_JOIN_TOKEN in the environment"
        );
    };
    tokio::time::sleep(options.stagger.mul_f64(rand::random_range(0.0..1.0))).await;
    let join = Join { join_token, inventory: inventory.clone() };
    let mut pauses = BackOff::new();
    loop {
        match options.server.join(&join).await {
            Ok(joined) => {
                info!(node_id = %joined.node_id, pool = joined.pool, "joined");
                let identity = Identity {
                    node_name: options.name.clone(),
                    node_id: joined.node_id,
                    credential: joined.credential,
                };
                state.save_identity(&identity).context("cannot save the node's credential")?;
                return Ok(identity);
            }
            Err(ServerError::Later(why)) => {
                warn!(why, "cannot join yet");
                pauses.pause().await;
            }
            Err(error) => bail!("node {} cannot join: {error}", options.name),
        }
    }
}

/// Looks at the GPUs now and then; a change makes the node register again.
async fn watch_gpus(gpus: Arc<dyn GpuSource>, inventory: watch::Sender<Inventory>) {
    loop {
        tokio::time::sleep(GPU_PERIOD).await;
        match gpus.discover() {
            Ok(found) => {
                inventory.send_if_modified(|inventory| {
                    let changed = inventory.gpus != found;
                    inventory.gpus = found;
                    changed
                });
            }
            Err(error) => warn!(%error, "cannot look at the GPUs"),
        }
    }
}
