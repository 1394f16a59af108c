//! What can be said on the command line.

use crate::replay::{formats, parse_pair};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use reeve_core::job::CheckpointMode;
use reeve_core::kind::Kind;
use reeve_sim::trace::Format;
use reeve_sim::workload::{Micros, SECOND};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  A week of a made-up cluster (100 nodes, 20 teams), as a page:
    reeve simulate --generate S --html week.html

  Our last month under two policies, side by side:
    reeve simulate jobs.csv --policy today.yaml --policy gentle.yaml --html compare.html
  where jobs.csv has the columns at_secs, duration_secs, team, gpus (others: --columns submit=start,duration=secs,…)
  and a policy has a scenario file's keys:
    pools: [{name: a100}]
    nodes: [{count: 12, gpus: 8, pool: a100}]
    teams: {vision: {guaranteed: 48, lend_limit: 40}, speech: {guaranteed: 48}}
    policy: {grace: 5m, min_runtime: 30m}

  Microsoft's Philly trace (https://github.com/msr-fiddle/philly-traces) on a quarter of its nodes:
    reeve simulate jobs.csv.gz --format philly --teams-from vc_nodes.csv --quota-divisor 4 --from 2017-10-01 --to 2017-12-01

  A demand curve by minute (minute,tenant,quota_gpus,running_gpus,waiting_gpus):
    reeve simulate tenant_minutes_2020_05.csv.gz --demand";

/// What would this policy have done with our last month?
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct SimulateArgs {
    /// The workload: csv or csv.gz
    #[arg(required_unless_present = "generate", conflicts_with = "generate")]
    pub(super) file: Option<PathBuf>,
    /// Whose columns the trace has: philly (Microsoft, 2017), openb (Alibaba, 2023), or reeve (at_secs, duration_secs, team, gpus)
    #[arg(long, default_value = "reeve", value_parser = formats())]
    pub(super) format: Format,
    /// Which column says what: submit, duration or end, team, gpus, gpu_milli, name, kind, priority
    #[arg(long, value_delimiter = ',', value_name = "WHAT=COLUMN,…", value_parser = parse_pair)]
    pub(super) columns: Vec<(String, String)>,
    /// The file is a demand curve by minute, and brings its own quotas
    #[arg(long, conflicts_with_all = ["generate", "teams_from", "columns", "from", "to"])]
    pub(super) demand: bool,
    /// Make a workload up, for a cluster of size S (100 nodes, 20 teams), M (1,000, 200) or L (5,000, 1,000)
    #[arg(long, value_name = "SIZE", value_parser = ["S", "M", "L"], ignore_case = true)]
    pub(super) generate: Option<String>,
    /// Jobs to make up (default: 10,000 for S, 50,000 for M, 100,000 for L)
    #[arg(long, requires = "generate")]
    pub(super) jobs: Option<u32>,
    /// Teams to make up
    #[arg(long, requires = "generate", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) teams: Option<u32>,
    /// Days over which made-up jobs are submitted
    #[arg(long, requires = "generate", default_value_t = 7.0, value_parser = positive)]
    pub(super) days: f64,
    /// GPU time that made-up jobs ask for, as a part of the cluster's
    #[arg(long, requires = "generate", default_value_t = 0.8, value_parser = positive)]
    pub(super) load: f64,
    /// For everything that is drawn: made-up jobs and node losses
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Only jobs submitted from this moment on, in the trace's own time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) from: Option<f64>,
    /// Only jobs submitted before this moment
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) to: Option<f64>,
    /// Only the first so many jobs
    #[arg(long)]
    pub(super) limit: Option<usize>,
    /// A policy to try: a file with a scenario's keys (pools, nodes, teams, queues, policy). Repeat to compare
    #[arg(long, value_name = "FILE")]
    pub(super) policy: Vec<PathBuf>,
    /// Only teams of this file (vc,node num), guaranteed their nodes' GPUs
    #[arg(long, value_name = "FILE")]
    pub(super) teams_from: Option<PathBuf>,
    /// Divide nodes and guarantees of --teams-from by this
    #[arg(long, default_value_t = 1, requires = "teams_from", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) quota_divisor: u32,
    /// Nodes of the cluster, where the policy names none (default: what the guarantees add up to)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) nodes: Option<u32>,
    /// GPUs of a node: larger jobs become gangs
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) node_gpus: u32,
    /// The kind of jobs whose trace names none
    #[arg(long, default_value = "training", value_parser = kinds())]
    pub(super) kind: Kind,
    /// How evicted jobs save their work: on_signal loses none, periodic what was done since, none everything
    #[arg(long, default_value = "on_signal", value_parser = checkpoints())]
    pub(super) checkpoint: CheckpointMode,
    /// How often a job saves with --checkpoint periodic, for example 30m
    #[arg(long, default_value = "30m", value_name = "DURATION", value_parser = span)]
    pub(super) checkpoint_every: Micros,
    /// How long an evicted job takes to save and leave (default: its whole grace)
    #[arg(long, value_name = "DURATION", value_parser = span)]
    pub(super) leaves_after: Option<Micros>,
    /// Lose each node this often on average, for example 30d
    #[arg(long, value_name = "DURATION", value_parser = span)]
    pub(super) node_loss_every: Option<Micros>,
    /// A lost node is back after this long
    #[arg(long, default_value = "4h", requires = "node_loss_every", value_name = "DURATION", value_parser = span)]
    pub(super) node_repair: Micros,
    /// Plan at most this often, for example 1m: what happens in between is planned together. For M and L, and long traces
    #[arg(long, default_value = "0s", value_name = "DURATION", value_parser = span)]
    pub(super) plan_every: Micros,
    /// Judge every plan and every state by the product's rules; exit 1 on a violation (slower)
    #[arg(long)]
    pub(super) check: bool,
    /// Write figures and series as JSON (`--json` prints them instead)
    #[arg(long, value_name = "FILE")]
    pub(super) json_file: Option<PathBuf>,
    /// Write a page with pictures that needs nothing else
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
}

fn kinds() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.iter().map(|kind| kind.as_str())).try_map(|text| text.parse::<Kind>())
}

fn checkpoints() -> impl TypedValueParser<Value = CheckpointMode> {
    PossibleValuesParser::new(CheckpointMode::ALL.iter().map(|mode| mode.as_str()))
        .try_map(|text| text.parse::<CheckpointMode>())
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "a number above 0 is wanted".to_owned())
}

fn moment(text: &str) -> Result<f64, String> {
    reeve_sim::trace::instant(text)
        .ok_or_else(|| "a time is wanted: 2017-10-01, 2017-10-01 12:00:00, RFC 3339, or seconds".to_owned())
}

/// `90s`, `30m`, `4h`, `30d`.
fn span(text: &str) -> Result<Micros, String> {
    let wrong = || format!("{text:?} is no duration: 90s, 30m, 4h and 30d are");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let secs = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: Micros = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number.checked_mul(secs * SECOND).filter(|micros| *micros >= 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn durations_have_a_number_and_a_unit() {
        assert_eq!(span("30m"), Ok(1_800_000_000));
        assert_eq!(span("2d"), Ok(172_800_000_000));
        for wrong in ["", "m", "30", "3.5h", "-1s", "9999999999999999d", "3é"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
