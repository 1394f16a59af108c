//! `reeve scenario run FILE…`: runs scenario files on production's planner, without a server.
//!
//! This module reads files and prints; what a scenario means is [`reeve_core::scenario`]'s.

use anyhow::Context;
use clap::{Args, Subcommand};
use reeve_core::scenario::FileReport;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Test a policy before it is applied.
#[derive(Debug, Args)]
pub(crate) struct ScenarioArgs {
    #[command(subcommand)]
    command: ScenarioCommand,
}

#[derive(Debug, Subcommand)]
enum ScenarioCommand {
    /// Run scenario files: one line a scenario, exit 1 if any fails.
    Run(RunArgs),
}

#[derive(Debug, Args)]
struct RunArgs {
    /// Scenario files (YAML), or folders of them.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print each step's decisions and reasons.
    #[arg(long)]
    explain: bool,
    /// Print one JSON document instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand. The exit code is 1 if a scenario fails or a file is malformed.
///
/// # Errors
/// A file cannot be read, or the output cannot be written.
pub(crate) fn run(args: ScenarioArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        ScenarioCommand::Run(args) => run_files(&args),
    }
}

fn run_files(args: &RunArgs) -> anyhow::Result<ExitCode> {
    let mut reports = Vec::new();
    for path in all_files(&args.files)? {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {name}"))?;
        reports.push(FileReport::of(&name, &text, reeve_core::schedule::plan));
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &summary(&reports))?;
        writeln!(out)?;
    } else {
        for report in &reports {
            write!(out, "{}", report.text(args.explain))?;
        }
        let failed = count_failed(&reports);
        let total: usize = reports.iter().map(|report| report.scenarios.len()).sum();
        writeln!(out, "{total} scenarios in {} files, {failed} failed", reports.len())?;
    }
    Ok(if reports.iter().all(FileReport::passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Files as given; a folder stands for the YAML files in it, by name.
fn all_files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut inside = Vec::new();
        for entry in entries {
            let file = entry.with_context(|| format!("cannot read {}", path.display()))?.path();
            if is_yaml(&file) {
                inside.push(file);
            }
        }
        inside.sort();
        files.extend(inside);
    }
    Ok(files)
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Scenarios that failed, and files that could not be told.
fn count_failed(reports: &[FileReport]) -> usize {
    let failed = |report: &FileReport| report.scenarios.iter().filter(|scenario| !scenario.passed).count();
    reports.iter().map(|report| failed(report) + usize::from(report.error.is_some())).sum()
}

fn summary(reports: &[FileReport]) -> serde_json::Value {
    serde_json::json!({
        "passed": reports.iter().all(FileReport::passed),
        "failed": count_failed(reports),
        "files": reports,
    })
}
