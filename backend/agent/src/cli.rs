//! The command line of `reeve-agent`, the only place here that reads the environment.
//!
//! Secrets come by file or environment; there is no option that takes one, because every user of a machine can
//! read the arguments of its processes.

use crate::files::Durability;
use crate::gpus::GpuSpec;
use crate::inventory::{self, Description, parse_node_name};
use crate::run::{self, MakeRunner, NodeOptions};
use crate::runner::{JobUser, ProcessRunner};
use crate::server::Server;
use crate::simulate::{self, Fleet};
use crate::{environment, shim};
use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand};
use nix::unistd::{Uid, User};
use reeve_core::clock::{SharedClock, SystemClock};
use reeve_wire::samples::SAMPLE_EVERY_SECS;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::info;

/// Runs the jobs that a Reeve server places on this machine.
#[derive(Debug, Parser)]
#[command(name = "reeve-agent", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run this machine as a node of the pool that its join token names.
    Run(RunArgs),
    /// Run many simulated nodes in this process: their jobs are timers, the protocol is real.
    ///
    /// A job says by its environment how it behaves, in seconds divided by the time scale:
    /// REEVE_SIM_DURATION_SECS (default 60), REEVE_SIM_LEAVE_SECS (default 0), and REEVE_SIM_EXIT_CODE (default 0).
    Simulate(SimulateArgs),
    /// Print the GPUs that this machine would report, as JSON.
    Gpus(GpusArgs),
    /// What stands between the agent and a job. Started by the agent itself.
    #[command(hide = true)]
    ExecShim { folder: PathBuf },
}

#[derive(Debug, Args)]
struct ServerArgs {
    /// The server's address, for example https://reeve.example.org
    #[arg(long, env = "REEVE_SERVER", value_name = "URL")]
    server: String,
    /// Certificates to trust beside the machine's own (PEM)
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Where identity, running jobs and logs are kept; one agent a directory
    #[arg(long, env = "REEVE_STATE_DIR", value_name = "DIR")]
    state_dir: PathBuf,
    /// A file with the one-time join token, for the first start; or set REEVE_JOIN_TOKEN
    #[arg(long, value_name = "FILE")]
    join_token_file: Option<PathBuf>,
    /// Stop the jobs when the agent is told to stop (default: they go on, and the next agent takes them up)
    #[arg(long)]
    stop_jobs_on_exit: bool,
    /// Days for which logs of ended jobs stay on this machine
    #[arg(long, default_value_t = 7, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(0..=3650))]
    keep_days: u32,
    /// Seconds between two looks at how the GPUs are used; the server expects one each 15 at least
    #[arg(long, default_value_t = SAMPLE_EVERY_SECS, value_name = "SECS",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(SAMPLE_EVERY_SECS)))]
    sample_secs: u32,
}

#[derive(Debug, Args)]
struct DescriptionArgs {
    /// Labels that jobs can ask for
    #[arg(long, value_name = "K=V,…", value_delimiter = ',', value_parser = parse_pair)]
    labels: Vec<(String, String)>,
    /// Where the node stands, by level
    #[arg(long, value_name = "LEVEL=PLACE,…", value_delimiter = ',', value_parser = parse_pair)]
    topology: Vec<(String, String)>,
    /// Cores that jobs may have (default: all)
    #[arg(long, value_name = "CORES", value_parser = clap::value_parser!(u32).range(1..))]
    cpu: Option<u32>,
    /// Memory that jobs may have (default: all)
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    memory_mib: Option<u32>,
    /// The node has RDMA ports
    #[arg(long)]
    rdma: bool,
}

#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// The node's name (default: the host's)
    #[arg(long, env = "REEVE_NODE", value_parser = parse_node_name)]
    node: Option<String>,
    /// Where the GPUs are: nvml (the NVIDIA driver), none, or simulated:8xA100-80G
    #[arg(long, default_value = "nvml", value_name = "SOURCE")]
    gpus: GpuSpec,
    #[command(flatten)]
    description: DescriptionArgs,
    /// Keep checkpoints here instead of in the state directory; on a shared file system a job can resume on
    /// another node
    #[arg(long, value_name = "DIR")]
    checkpoint_root: Option<PathBuf>,
    /// Run jobs as this user (the agent must be root); default: the agent's own, who can read its credential
    #[arg(long, value_name = "USER")]
    job_user: Option<String>,
    /// PATH of jobs that set none
    #[arg(long, default_value = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")]
    job_path: String,
    /// Most MiB of one log on disk; beyond it the oldest part is dropped
    #[arg(long, default_value_t = 256, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    log_limit_mib: u64,
    /// Most MiB of logs sent to the server a second
    #[arg(long, default_value_t = 8, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1024))]
    log_rate_mib: u64,
}

#[derive(Debug, Args)]
struct SimulateArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// How many nodes
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=2000))]
    nodes: u32,
    /// GPUs of each node
    #[arg(long, default_value = "8xA100-80G", value_name = "NxMODEL-MEMORY", value_parser = parse_simulated)]
    gpus: GpuSpec,
    /// Nodes are named PREFIX0, PREFIX1, …
    #[arg(long, default_value = "n")]
    prefix: String,
    /// How many seconds of a job pass in one real second
    #[arg(long, default_value_t = 1.0, value_parser = parse_time_scale)]
    time_scale: f64,
    #[command(flatten)]
    description: DescriptionArgs,
}

#[derive(Debug, Args)]
struct GpusArgs {
    /// Where the GPUs are: nvml (the NVIDIA driver), none, or simulated:8xA100-80G
    #[arg(long, default_value = "nvml", value_name = "SOURCE")]
    gpus: GpuSpec,
    /// The node's name, which is part of simulated GPUs' UUIDs
    #[arg(long, default_value = "node", value_parser = parse_node_name)]
    node: String,
}

/// The program: reads the command line, runs, and says in one line why it failed.
#[must_use]
pub fn start() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::ExecShim { folder } => shim::run(&folder),
        Command::Gpus(args) => print_gpus(&args),
        Command::Run(args) => with_runtime(|leave| run_node(args, leave)),
        Command::Simulate(args) => with_runtime(|leave| run_fleet(args, leave)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("reeve-agent: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn with_runtime<F>(work: impl FnOnce(CancellationToken) -> F) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<()>>,
{
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let leave = CancellationToken::new();
        tokio::spawn(leave_on_signal(leave.clone()));
        work(leave).await
    })
}

/// The first TERM or INT asks to leave, the second ends the agent at once.
async fn leave_on_signal(leave: CancellationToken) {
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return;
    };
    for again in [false, true] {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        if again {
            std::process::exit(1);
        }
        info!("told to leave");
        leave.cancel();
    }
}

async fn run_node(args: RunArgs, leave: CancellationToken) -> anyhow::Result<()> {
    let name = match args.node {
        Some(name) => name,
        None => host_name()?,
    };
    let user = args.job_user.as_deref().map(job_user).transpose()?;
    let home = match &user {
        Some(user) => user.home.clone(),
        None => {
            User::from_uid(Uid::current()).ok().flatten().map_or_else(|| PathBuf::from("/"), |user| user.dir)
        }
    };
    let (node_name, path) = (name.clone(), args.job_path);
    let runner: MakeRunner = Box::new(move |state, node_id| {
        let base = environment::Base {
            path,
            home: home.display().to_string(),
            node_name,
            node_id,
            tools: state.tools(),
        };
        Box::new(ProcessRunner {
            base,
            user,
            members: state.members(),
            checkpoints: state.checkpoints(),
            work: state.work(),
            lease: state.lease_path(),
            shims: BTreeMap::new(),
        })
    });
    let options = NodeOptions {
        gpus: args.gpus.source(&name)?,
        name,
        server: Server::new(&args.server.server, args.server.ca_file.as_deref())?,
        join_token: join_token(args.server.join_token_file.as_deref())?,
        state_dir: args.server.state_dir,
        checkpoint_root: args.checkpoint_root,
        description: description(args.description),
        runner,
        durability: Durability::Disk,
        tick: Duration::from_millis(100),
        stop_jobs_on_exit: args.server.stop_jobs_on_exit,
        log_limit_bytes: args.log_limit_mib * 1024 * 1024,
        log_bytes_per_sec: args.log_rate_mib * 1024 * 1024,
        keep: days(args.server.keep_days),
        stagger: Duration::ZERO,
        sample_every: Duration::from_secs(args.server.sample_secs.into()),
    };
    run::run(options, clock(), leave).await
}

async fn run_fleet(args: SimulateArgs, leave: CancellationToken) -> anyhow::Result<()> {
    let fleet = Fleet {
        nodes: args.nodes,
        prefix: args.prefix,
        server: Server::new(&args.server.server, args.server.ca_file.as_deref())?,
        join_token: join_token(args.server.join_token_file.as_deref())?,
        state_dir: args.server.state_dir,
        description: description(args.description),
        gpus: args.gpus,
        time_scale: args.time_scale,
        stop_jobs_on_exit: args.server.stop_jobs_on_exit,
        keep: days(args.server.keep_days),
        sample_every: Duration::from_secs(args.server.sample_secs.into()),
    };
    simulate::run(fleet, clock(), leave).await
}

fn print_gpus(args: &GpusArgs) -> anyhow::Result<()> {
    let source = args.gpus.source(&args.node)?;
    let inventory = inventory::take(&args.node, &Description::default(), source.as_ref())?;
    println!("{}", serde_json::to_string_pretty(&inventory.gpus)?);
    Ok(())
}

fn clock() -> SharedClock {
    Arc::new(SystemClock)
}

fn days(days: u32) -> Duration {
    Duration::from_secs(u64::from(days) * 86_400)
}

fn description(args: DescriptionArgs) -> Description {
    Description {
        labels: args.labels.into_iter().collect(),
        topology: args.topology.into_iter().collect(),
        cpu: args.cpu,
        memory_mib: args.memory_mib,
        rdma: args.rdma,
    }
}

/// The file first, then the environment.
#[expect(clippy::disallowed_methods, reason = "the agent's command line; a secret can't be an option")]
fn join_token(file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let text = match file {
        Some(path) => std::fs::read_to_string(path).with_context(|| path.display().to_string())?,
        None => std::env::var("REEVE_JOIN_TOKEN").unwrap_or_default(),
    };
    Ok(Some(text.trim().to_owned()).filter(|token| !token.is_empty()))
}

fn host_name() -> anyhow::Result<String> {
    let name = nix::unistd::gethostname()?.to_string_lossy().to_ascii_lowercase();
    parse_node_name(&name).map_err(|why| anyhow::anyhow!("host name {name:?}: {why}; give --node"))
}

fn job_user(name: &str) -> anyhow::Result<JobUser> {
    if !Uid::effective().is_root() {
        bail!("--job-user {name}: only root can start processes as another user");
    }
    let user = User::from_name(name)?.with_context(|| format!("--job-user {name}: no such user"))?;
    Ok(JobUser { uid: user.uid.as_raw(), gid: user.gid.as_raw(), home: user.dir })
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("{text:?}: expected KEY=VALUE")),
    }
}

fn parse_simulated(text: &str) -> Result<GpuSpec, String> {
    text.strip_prefix("simulated:").unwrap_or(text).parse().map(GpuSpec::Simulated)
}

fn parse_time_scale(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|scale| (0.001..=1_000_000.0).contains(scale))
        .ok_or_else(|| "expected a number between 0.001 and 1000000".to_owned())
}
