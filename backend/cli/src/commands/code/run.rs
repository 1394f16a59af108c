//! The three commands.

use super::change::{Change, What};
use super::document::{Document, Section, read};
use super::live::{self, Live};
use super::prices;
use super::{apply as making, diff as comparing};
use crate::client::{Call, Client};
use crate::output::{Output, cell};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Only these sections: pools, teams, queues, quotas, priority_budgets, policy, prices
    #[arg(long, value_name = "SECTION")]
    only: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The document, YAML or JSON; - for standard input
    #[arg(short = 'f', long = "file")]
    file: PathBuf,
    /// Also what would go: things of the document's sections that it does not name
    #[arg(long)]
    prune: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// The document, YAML or JSON; - for standard input
    #[arg(short = 'f', long = "file")]
    file: PathBuf,
    /// Remove things of the document's sections that it does not name
    #[arg(long)]
    prune: bool,
    /// Only say what would change, and what quotas and policy would do to the work there is
    #[arg(long)]
    dry_run: bool,
}

/// Everything as one document.
pub(crate) async fn export(args: ExportArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let wanted =
        |section: Section| args.only.is_empty() || args.only.iter().any(|only| only == section.name());
    let mut document = Map::new();
    for section in Section::ALL.into_iter().filter(|section| wanted(*section)) {
        document.insert(section.name().to_owned(), json!({}));
    }
    for ((section, name), standing) in live::read(client).await? {
        if let Some(content) = document.get_mut(section.name()) {
            match section {
                Section::Policy => *content = Value::Object(standing.fields),
                // Nothing was set yet: an empty book could be put nowhere.
                Section::Prices if standing.version == 0 => drop(document.remove(section.name())),
                Section::Prices => *content = prices::listed(&standing.fields),
                _ => content[name] = Value::Object(standing.fields),
            }
        }
    }
    if output.is_json() {
        return output.json(&document);
    }
    print!("{}", serde_yaml_ng::to_string(&document)?);
    Ok(())
}

/// Exit 1 when something differs, as `diff` does.
pub(crate) async fn diff(args: DiffArgs, client: &Client, output: Output) -> anyhow::Result<ExitCode> {
    let document = read(&args.file)?;
    let changes = comparing::diff(&document, &live::read(client).await?, args.prune);
    say(&changes, output)?;
    Ok(if changes.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(crate) async fn apply(args: ApplyArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let document: Document = read(&args.file)?;
    let standing = live::read(client).await?;
    let changes = comparing::diff(&document, &standing, args.prune);
    if args.dry_run {
        say(&changes, output)?;
        return foresee(&changes, &standing, client, output).await;
    }
    let done = making::make(changes, client, output).await?;
    if output.is_json() {
        return output.json(&json!({"changes": done}));
    }
    println!("{}", if done == 0 { "nothing to change".to_owned() } else { format!("{done} changed") });
    Ok(())
}

fn say(changes: &[Change], output: Output) -> anyhow::Result<()> {
    let lines: Vec<String> = changes.iter().flat_map(Change::lines).collect();
    if output.is_json() {
        return output.json(&lines);
    }
    lines.iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// What quotas and policy would do to the work there is, where the planner can imagine it.
async fn foresee(changes: &[Change], live: &Live, client: &Client, output: Output) -> anyhow::Result<()> {
    let imagined: Vec<Value> = changes.iter().filter_map(|change| imagine(change, live)).collect();
    if imagined.is_empty() || output.is_json() {
        return Ok(());
    }
    let said = client.send(Call::post("/what-if", json!({"changes": imagined}))).await?;
    println!(
        "would start {}, no longer run {}, be asked to leave {}",
        cell(&said, "/starts/total"),
        cell(&said, "/lost_starts/total"),
        cell(&said, "/evictions/total")
    );
    Ok(())
}

fn imagine(change: &Change, live: &Live) -> Option<Value> {
    match (change.key.0, &change.what) {
        (Section::Policy, What::Edit { .. }) => Some(json!({"policy": change.wanted})),
        (Section::Quotas, What::Add { .. } | What::Edit { .. }) => {
            let (team, pool) = change.key.1.split_once('/')?;
            let there = |section: Section, name: &str| live.contains_key(&(section, name.to_owned()));
            if !there(Section::Teams, team) || !there(Section::Pools, pool) {
                return None;
            }
            let mut quota = live.get(&change.key).map(|standing| standing.fields.clone()).unwrap_or_default();
            quota.extend(change.wanted.clone());
            quota.remove("drain");
            quota.insert("team".to_owned(), json!(team));
            quota.insert("pool".to_owned(), json!(pool));
            Some(json!({"quota": quota}))
        }
        _ => None,
    }
}
