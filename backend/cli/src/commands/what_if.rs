//! `reeve what-if` and `reeve submit --dry-run`: what would happen, in words. They refuse to change anything.

use super::show::Language;
use crate::client::{Call, Client};
use crate::output::{Output, cell, table};
use anyhow::{Context, ensure};
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Changes are imagined all at once. Without any, say at least one.
#[derive(Debug, Args)]
pub(crate) struct WhatIfArgs {
    /// A job as JSON or YAML, as for `reeve submit --file`; repeat for several
    #[arg(long, value_name = "FILE")]
    submit: Vec<PathBuf>,
    /// A live job gets another priority class
    #[arg(long, value_name = "JOB=CLASS", value_parser = pair)]
    priority: Vec<(String, String)>,
    /// A team's guaranteed GPUs in a pool become this
    #[arg(long, value_name = "TEAM/POOL=GPUS", value_parser = quota)]
    quota: Vec<Value>,
    /// The policy becomes this document (JSON or YAML, as `GET /policy` shows it)
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// A node is lost, cordoned, draining or ready
    #[arg(long, value_name = "NODE=STATE", value_parser = pair)]
    node: Vec<(String, String)>,
    /// Language of the sentences
    #[arg(long, value_enum, default_value = "en")]
    lang: Language,
}

pub(crate) async fn run(args: WhatIfArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let lang = args.lang;
    let changes = changes(args)?;
    ensure!(
        !changes.is_empty(),
        "nothing to imagine: give --submit, --priority, --quota, --policy or --node"
    );
    print(&ask(client, changes).await?, lang, output)
}

/// `reeve submit --dry-run`.
pub(crate) async fn dry_run(job: Value, client: &Client, output: Output) -> anyhow::Result<()> {
    print(&ask(client, vec![json!({"submit": job})]).await?, Language::En, output)
}

async fn ask(client: &Client, changes: Vec<Value>) -> anyhow::Result<Value> {
    Ok(client.send(Call::post("/what-if", json!({"changes": changes}))).await?)
}

fn changes(args: WhatIfArgs) -> anyhow::Result<Vec<Value>> {
    let mut changes: Vec<Value> = Vec::new();
    if let Some(file) = &args.policy {
        changes.push(json!({"policy": read(file)?}));
    }
    changes.extend(args.quota);
    changes
        .extend(args.node.into_iter().map(|(node, state)| json!({"node": {"node": node, "state": state}})));
    let priority = |(job, class)| json!({"priority": {"job": job, "priority": class}});
    changes.extend(args.priority.into_iter().map(priority));
    for file in &args.submit {
        changes.push(json!({"submit": read(file)?}));
    }
    Ok(changes)
}

fn read(file: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    // JSON is YAML.
    let value: Value = serde_yaml_ng::from_str(&text).with_context(|| file.display().to_string())?;
    ensure!(value.is_object(), "{}: a mapping is wanted", file.display());
    Ok(value)
}

fn print(said: &Value, lang: Language, output: Output) -> anyhow::Result<()> {
    if output.is_json() {
        return output.json(said);
    }
    print!("{}", answer(said, lang));
    Ok(())
}

/// A list of the answer: its field, what it says, and its columns by pointer.
type Section = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const SECTIONS: [Section; 6] = [
    (
        "starts",
        "would start",
        &[("JOB", "/job/name"), ("TEAM", "/job/team/slug"), ("GPUS", "/gpus"), ("POOL", "/pool/slug")],
    ),
    (
        "lost_starts",
        "would no longer run",
        &[("JOB", "/job/name"), ("TEAM", "/job/team/slug"), ("GPUS", "/gpus")],
    ),
    (
        "evictions",
        "would be asked to leave",
        &[
            ("JOB", "/job/name"),
            ("TEAM", "/job/team/slug"),
            ("CAUSE", "/cause"),
            ("LOST GPU-S", "/lost_gpu_secs"),
            ("RUNS AGAIN", "/runs_again"),
        ],
    ),
    (
        "spared",
        "would no longer be asked to leave",
        &[("JOB", "/job/name"), ("TEAM", "/job/team/slug"), ("CAUSE", "/cause")],
    ),
    (
        "loans",
        "loans would change",
        &[
            ("BORROWER", "/borrower/slug"),
            ("LENDER", "/lender/slug"),
            ("POOL", "/pool/slug"),
            ("GPUS NOW", "/gpus_before"),
            ("THEN", "/gpus_after"),
        ],
    ),
    (
        "reasons",
        "would wait for another reason",
        &[("JOB", "/job/name"), ("TEAM", "/job/team/slug"), ("NOW", "/before/code"), ("THEN", "/after/code")],
    ),
];

fn answer(said: &Value, lang: Language) -> String {
    let mut lines: Vec<String> =
        list(&said["submitted"]).iter().map(|outcome| verdict(outcome, lang)).collect();
    for (key, title, columns) in SECTIONS {
        let items = list(&said[key]["items"]);
        if items.is_empty() {
            continue;
        }
        let titles = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
        let rows = items.iter().map(|item| columns.iter().map(|(_, pointer)| cell(item, pointer)).collect());
        lines.push(format!("\n{} {title}", said[key]["total"]));
        lines.push(table(titles, rows.collect()).trim_end().to_owned());
    }
    if lines.is_empty() {
        lines.push("Nothing would differ from today.".to_owned());
    }
    if said["at_rest"] == false {
        lines.push("It was still changing when the search for its end was given up.".to_owned());
    }
    lines.join("\n") + "\n"
}

/// What becomes of one imagined job.
fn verdict(outcome: &Value, lang: Language) -> String {
    let tongue = match lang {
        Language::En => "en",
        Language::Zh => "zh",
    };
    let why = outcome.pointer(&format!("/verdict/sentence/{tongue}")).and_then(Value::as_str);
    let why = why.map_or(String::new(), |why| format!(": {why}"));
    let nodes: Vec<String> =
        list(&outcome["start"]["nodes"]).iter().map(|node| cell(node, "/name")).collect();
    let place = if nodes.is_empty() { String::new() } else { format!(" on {}", nodes.join(", ")) };
    format!("{}: {}{place}{why}", cell(outcome, "/job/name"), cell(outcome, "/outcome").replace('_', " "))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (left, right) = text.split_once('=').filter(|(left, _)| !left.is_empty()).ok_or("A=B is wanted")?;
    Ok((left.to_owned(), right.to_owned()))
}

fn quota(text: &str) -> Result<Value, String> {
    let wanted = "TEAM/POOL=GPUS is wanted, for example speech/h100=16";
    let (place, gpus) = text.split_once('=').ok_or(wanted)?;
    let (team, pool) = place.split_once('/').ok_or(wanted)?;
    let gpus: u32 = gpus.parse().map_err(|_| wanted)?;
    Ok(json!({"quota": {"team": team, "pool": pool, "guaranteed_gpus": gpus}}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_tells_outcomes_first_and_leaves_out_what_is_empty() {
        let job = |name: &str| json!({"name": name, "team": {"slug": "a"}});
        let said = json!({
            "at_rest": true,
            "submitted": [{"job": job("train"), "outcome": "starts_after_evictions", "start": {"nodes": [{"name": "n1"}]}}],
            "evictions": {"total": 1, "items": [{"job": job("x"), "cause": "reclaim", "lost_gpu_secs": 60, "runs_again": false}]},
            "loans": {"total": 0, "items": []},
        });
        let text = answer(&said, Language::En);
        assert!(text.starts_with("train: starts after evictions on n1\n"), "{text}");
        assert!(text.contains("1 would be asked to leave") && !text.contains("loans"), "{text}");
        assert_eq!(answer(&json!({"at_rest": true}), Language::En), "Nothing would differ from today.\n");
    }

    #[test]
    fn a_quota_names_team_pool_and_gpus() {
        assert_eq!(quota("a/p=4"), Ok(json!({"quota": {"team": "a", "pool": "p", "guaranteed_gpus": 4}})));
        for wrong in ["a=4", "a/p", "a/p=x", "a/p=-1"] {
            assert!(quota(wrong).is_err(), "{wrong}");
        }
    }
}
