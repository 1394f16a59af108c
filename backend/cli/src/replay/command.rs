//! The command: reads, sets up, submits, waits, reports.

use super::report;
use super::setup::{self, tenants};
use super::submit::{self, Shape};
use crate::client::{Call, Client};
use crate::output::Output;
use anyhow::{Context, ensure};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use reeve_sim::trace::{self, Columns, Format};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// Trace formats name their columns; `--columns` maps others.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The trace: csv or csv.gz
    file: PathBuf,
    /// How many of the trace's seconds pass in a real one; give simulated agents the same --time-scale
    #[arg(long, default_value_t = 1.0, value_parser = parse_speed)]
    speed: f64,
    /// Whose columns the trace has: philly (Microsoft, 2017), openb (Alibaba, 2023), or reeve (at_secs, duration_secs, team, gpus)
    #[arg(long, default_value = "reeve", value_parser = formats())]
    format: Format,
    /// Which column says what: submit, duration or end, team, gpus, gpu_milli, name, kind, priority
    #[arg(long, value_delimiter = ',', value_name = "WHAT=COLUMN,…", value_parser = parse_pair)]
    columns: Vec<(String, String)>,
    /// Only the first so many jobs
    #[arg(long)]
    limit: Option<usize>,
    /// Only teams of this file (vc,node num): nodes of each
    #[arg(long, value_name = "FILE")]
    teams_from: Option<PathBuf>,
    /// Guarantee each team its nodes divided by this
    #[arg(long, default_value_t = 1)]
    quota_divisor: u32,
    /// GPUs of a node: larger jobs become replicas
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1024))]
    node_gpus: u32,
    #[arg(long)]
    pool: Option<String>,
    /// Make the pool, the teams of --teams-from, their quotas, and a join token
    #[arg(long, requires_all = ["teams_from", "pool"])]
    setup: bool,
    /// Where --setup writes the join token
    #[arg(long, default_value = "join-token", value_name = "FILE")]
    join_token_file: PathBuf,
    /// Only set up
    #[arg(long, requires = "setup")]
    setup_only: bool,
    /// Jobs are real `sleep` processes, for agents that are not simulated
    #[arg(long)]
    real_processes: bool,
    /// Do not wait for the jobs' ends
    #[arg(long)]
    until_submitted: bool,
}

pub(crate) async fn run(args: ReplayArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let nodes = args.teams_from.as_deref().map(trace::read_nodes).transpose()?;
    let mut trace = trace::read(&args.file, &Columns::of(args.format).with(&args.columns)?)?;
    if let Some(nodes) = &nodes {
        let known: BTreeSet<&str> = nodes.iter().map(|(team, _)| team.as_str()).collect();
        trace.rows.retain(|row| known.contains(row.team.as_str()));
    }
    trace.rows.truncate(args.limit.unwrap_or(usize::MAX));
    ensure!(!trace.rows.is_empty(), "{}: no jobs to submit", args.file.display());
    eprintln!("{} jobs to submit, {} rows are none", trace.rows.len(), trace.skipped);
    if let (true, Some(nodes), Some(pool)) = (args.setup, &nodes, &args.pool) {
        let tenants = tenants(nodes, args.quota_divisor, args.node_gpus)?;
        let wanted = setup::make(client, pool, &tenants, args.node_gpus, &args.join_token_file).await?;
        eprintln!(
            "set up. Nodes join with: reeve-agent simulate --server {} --nodes {wanted} --time-scale {} --join-token-file {} --state-dir DIR",
            client.server(),
            args.speed,
            args.join_token_file.display()
        );
        if args.setup_only {
            return Ok(());
        }
    }
    let shape = Shape {
        replay: uuid::Uuid::new_v4().to_string(),
        speed: args.speed,
        node_gpus: args.node_gpus,
        pool: args.pool,
        real: args.real_processes,
    };
    let bar = progress(trace.rows.len(), "submitted", output);
    let ids = submit::all(client, &trace.rows, &shape, &bar).await?;
    bar.finish();
    ensure!(ids.len() == trace.rows.len(), "{} of {} jobs were answered", ids.len(), trace.rows.len());
    if args.until_submitted {
        return output.json(&serde_json::json!({"replay": shape.replay, "submitted": ids.len()}));
    }
    let mine = || Call::get("/jobs").query("label", Some(format!("{}={}", submit::LABEL, shape.replay)));
    wait(client, &mine, ids.len(), &progress(ids.len(), "ended", output)).await?;
    let jobs = client.all(mine(), ids.len()).await?;
    let runs = runs_of(client, &jobs).await?;
    // By the server's clock, not this machine's.
    let since = jobs.iter().filter_map(|job| job["submitted_at"].as_str()).min();
    let loans = Call::get("/loans").query("pool", shape.pool.as_ref()).query("from", since);
    let loans = client.all(loans, 1_000_000).await?;
    report::print(report::Replayed { jobs: &jobs, runs: &runs, loans: &loans, speed: shape.speed }, output)
}

/// Until none of them is live any more; one question a second, however many there are.
async fn wait(
    client: &Client,
    mine: &impl Fn() -> Call,
    total: usize,
    bar: &ProgressBar,
) -> anyhow::Result<()> {
    const LIVE: [&str; 4] = ["queued", "starting", "running", "leaving"];
    loop {
        let ask = mine().query("count", Some(true)).query("limit", Some(1));
        let page = client.send(ask).await.context("waiting for the jobs")?;
        let count = |state: &str| page["counts"][state].as_u64().unwrap_or(0);
        let live: u64 = LIVE.into_iter().map(count).sum();
        bar.set_position((total as u64).saturating_sub(live));
        bar.set_message(format!("ended ({} running, {} waiting)", count("running"), count("queued")));
        if live == 0 {
            bar.finish();
            return Ok(());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// The runs of these jobs, by job.
async fn runs_of(client: &Client, jobs: &[Value]) -> anyhow::Result<BTreeMap<String, Vec<Value>>> {
    let mut runs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    // Timestamps of one form and zone sort as they are written.
    let Some(first) = jobs.iter().filter_map(|job| job["submitted_at"].as_str()).min() else {
        return Ok(runs);
    };
    let ours: BTreeSet<&str> = jobs.iter().filter_map(|job| job["id"].as_str()).collect();
    for run in client.all(Call::get("/runs").query("from", Some(first)), 1_000_000).await? {
        if let Some(id) = run["job"]["id"].as_str().filter(|id| ours.contains(id)) {
            runs.entry(id.to_owned()).or_default().push(run);
        }
    }
    Ok(runs)
}

fn progress(length: usize, what: &'static str, output: Output) -> ProgressBar {
    let bar = ProgressBar::new(u64::try_from(length).unwrap_or(0)).with_message(what);
    if output.is_json() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len} {elapsed}") {
        bar.set_style(style);
    }
    bar
}

fn parse_speed(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|speed: &f64| speed.is_finite() && *speed > 0.0)
        .ok_or("a number above 0 is wanted".into())
}

/// The names of the formats, for help and completion.
pub(crate) fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.iter().map(|format| format.as_str()))
        .try_map(|text| text.parse::<Format>())
}

pub(crate) fn parse_pair(text: &str) -> Result<(String, String), String> {
    let (what, column) = text.split_once('=').ok_or("WHAT=COLUMN is wanted")?;
    Ok((what.to_owned(), column.to_owned()))
}
