//! The command: reads, runs each policy, tells.

use super::args::SimulateArgs;
use super::policies::{self, Trial};
use super::table;
use super::work::{self, Work};
use crate::output::Output;
use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use reeve_sim::engine::{Options, Outcome, SimError, simulate};
use reeve_sim::faults::Faults;
use reeve_sim::figures::Figures;
use reeve_sim::page::{Told, page};
use reeve_sim::series::Series;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One policy, run.
struct Done {
    name: String,
    figures: Figures,
    series: Series,
    violations: Vec<String>,
}

pub(crate) fn run(args: &SimulateArgs, output: Output) -> anyhow::Result<ExitCode> {
    let work = work::read(args)?;
    let trials = policies::read(args, &work)?;
    let options = options(args);
    let done = run_all(&work, &trials, &options, output)?;
    let document = document(&work, &done);
    if let Some(path) = &args.json_file {
        write(path, &serde_json::to_string_pretty(&document)?)?;
    }
    if let Some(path) = &args.html {
        let told: Vec<Told<'_>> = done
            .iter()
            .map(|done| Told { name: &done.name, figures: &done.figures, series: &done.series })
            .collect();
        write(path, &page(&work.told, &told))?;
    }
    if output.is_json() {
        output.json(&document)?;
    } else {
        println!("{}", work.told);
        done.iter().for_each(|done| table::print(&done.name, &done.figures));
    }
    Ok(judged(args, &done))
}

fn options(args: &SimulateArgs) -> Options {
    Options {
        kind: args.kind,
        checkpoint: args.checkpoint,
        checkpoint_every: args.checkpoint_every,
        leaves_after: args.leaves_after,
        node_gpus: args.node_gpus,
        plan_every: args.plan_every,
        check: args.check,
        intervals: false,
        faults: args.node_loss_every.map(|every| Faults { seed: args.seed, every, repair: args.node_repair }),
    }
}

/// Policies know nothing of each other: each runs on its own thread, as many at once as there are cores.
fn run_all(work: &Work, trials: &[Trial], options: &Options, output: Output) -> anyhow::Result<Vec<Done>> {
    let bar = progress(work.workload.tasks.len() * trials.len(), output);
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(trials.len());
    let mut outcomes: Vec<(usize, Result<Outcome, SimError>)> = std::thread::scope(|scope| {
        let worker = || {
            let mut own = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(trial) = trials.get(at) else { return own };
                let mut known = 0;
                let outcome = simulate(&trial.cluster, &work.workload, options, |jobs| {
                    bar.inc((jobs - known) as u64);
                    known = jobs;
                });
                own.push((at, outcome));
            }
        };
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
    });
    bar.finish_and_clear();
    anyhow::ensure!(outcomes.len() == trials.len(), "a simulation broke off: this is a fault of reeve");
    outcomes.sort_by_key(|(at, _)| *at);
    outcomes
        .into_iter()
        .map(|(at, outcome)| {
            let trial = &trials[at];
            let outcome = outcome.with_context(|| trial.name.clone())?;
            Ok(Done {
                name: trial.name.clone(),
                figures: Figures::of(&trial.cluster, &work.workload, &outcome),
                series: Series::of(&trial.cluster, &outcome.record),
                violations: outcome.violation_samples,
            })
        })
        .collect()
}

fn progress(jobs: usize, output: Output) -> ProgressBar {
    // Draws on a terminal only.
    let bar = ProgressBar::new(jobs as u64);
    if output.is_json() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} jobs submitted, {eta} left") {
        bar.set_style(style);
    }
    bar
}

fn document(work: &Work, done: &[Done]) -> Value {
    let policy = |done: &Done| json!({"name": done.name, "figures": done.figures, "series": done.series});
    json!({"workload": work.told, "policies": done.iter().map(policy).collect::<Vec<_>>()})
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Violations are for standard error, whatever the output is for.
fn judged(args: &SimulateArgs, done: &[Done]) -> ExitCode {
    if !args.check {
        return ExitCode::SUCCESS;
    }
    let mut found = 0;
    for done in done {
        found += done.figures.violations;
        for violation in &done.violations {
            eprintln!("{}: {violation}", done.name);
        }
    }
    eprintln!("{found} violations");
    if found == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
