//! `reeve job`, `reeve explain` and `reeve rules`: one job in words.

use crate::client::{Call, Client};
use crate::output::{Output, cell, table};
use clap::{Args, ValueEnum};
use serde_json::Value;

#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// The job's id
    job: uuid::Uuid,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Language {
    En,
    Zh,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The job's id
    job: uuid::Uuid,
    /// Language of the sentences
    #[arg(long, value_enum, default_value = "en")]
    lang: Language,
}

/// As many as a job may wait for.
const MOST_DEPENDENCIES: usize = 1_000;

const FIELDS: [(&str, &str); 15] = [
    ("id", "/id"),
    ("name", "/name"),
    ("team", "/team/slug"),
    ("queue", "/queue/slug"),
    ("user", "/user/username"),
    ("kind", "/kind"),
    ("priority", "/priority_class"),
    ("state", "/state"),
    ("gpus", "/gpus_total"),
    ("borrowed gpus", "/borrowed_gpus"),
    ("run", "/run_number"),
    ("evictions", "/eviction_count"),
    ("submitted", "/submitted_at"),
    ("started", "/started_at"),
    ("finished", "/finished_at"),
];

pub(crate) async fn job(args: IdArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let job = client.send(Call::get(format!("/jobs/{}", args.job))).await?;
    if output.is_json() {
        return output.json(&job);
    }
    for (title, pointer) in FIELDS {
        println!("{title:<14} {}", cell(&job, pointer));
    }
    for (title, pointer) in
        [("waits for", "/reason/code"), ("leaving", "/leave/cause"), ("end", "/end_cause")]
    {
        if job.pointer(pointer).is_some_and(|value| !value.is_null()) {
            println!("{title:<14} {}", cell(&job, pointer));
        }
    }
    Ok(())
}

pub(crate) async fn rules(args: IdArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let view = client.send(Call::get(format!("/jobs/{}/rules", args.job))).await?;
    if output.is_json() {
        return output.json(&view);
    }
    let rules = view["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
    output.items(rules, &[("RULE", "/name"), ("VALUE", "/value"), ("SET BY", "/level"), ("NAME", "/slug")])
}

pub(crate) async fn explain(args: ExplainArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let said = client.send(Call::get(format!("/jobs/{}/explain", args.job))).await?;
    if output.is_json() {
        return output.json(&said);
    }
    print!("{}", explanation(&said, args.lang));
    if said["verdict"]["code"] == "waiting_for_jobs" {
        let call = Call::get(format!("/jobs/{}/dependencies", args.job));
        print!("{}", dependencies(&client.all(call, MOST_DEPENDENCIES).await?));
    }
    Ok(())
}

/// What it waits for, a line each; what has ended as wanted is left out.
fn dependencies(others: &[Value]) -> String {
    let open = others.iter().filter(|other| other["met"] != true);
    open.map(|other| {
        let name = other["job"]["name"].as_str().unwrap_or("a job of another team");
        let wanted = match other["condition"].as_str() {
            Some("ok") => "to succeed",
            Some("failed") => "to fail",
            _ => "to end",
        };
        format!("  waits for {name} {wanted}: it is {} ({})\n", cell(other, "/state"), cell(other, "/job/id"))
    })
    .collect()
}

fn explanation(said: &Value, lang: Language) -> String {
    let sentence = match lang {
        Language::En => "/sentence/en",
        Language::Zh => "/sentence/zh",
    };
    let mut text = format!("{}: {}\n", cell(said, "/job/name"), cell(said, "/state"));
    let mut line = |title: &str, value: &Value| {
        if !value.is_null() {
            text.push_str(&format!("{title}{} [{}]\n", cell(value, sentence), code(value)));
        }
    };
    line("", &said["verdict"]);
    said["others"].as_array().into_iter().flatten().for_each(|other| line("  also: ", other));
    line("  would help: ", &said["help"]);
    if !said["expected_start"].is_null() {
        text.push_str(&format!("  expected start: {}\n", cell(&said["expected_start"], sentence)));
    }
    if !said["position"].is_null() {
        text.push_str(&format!("  position in its queue: {}\n", cell(said, "/position")));
    }
    if !said["idle"].is_null() {
        text.push_str(&format!("{} [{}]\n", cell(&said["idle"], sentence), cell(&said["idle"], "/state")));
    }
    let evidence: Vec<Vec<String>> = said["evidence"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| ["/node/name", "/free_gpus", "/asks_gpus", "/blocked_by"].map(|at| cell(row, at)).to_vec())
        .collect();
    if !evidence.is_empty() {
        text.push_str(&table(["NODE", "FREE", "ASKS", "BLOCKED BY"].map(str::to_owned).to_vec(), evidence));
    }
    text
}

fn code(value: &Value) -> String {
    let key = if value["code"].is_null() { "/action" } else { "/code" };
    cell(value, key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_explanation_says_verdict_others_and_help() {
        let said = json!({
            "job": {"name": "train"}, "state": "queued", "position": 3, "evidence": [],
            "verdict": {"code": "no_quota", "sentence": {"en": "Its team uses 4 of 4.", "zh": "配额已用完。"}},
            "others": [{"code": "behind_others", "sentence": {"en": "Two are before it.", "zh": "前面有两个。"}}],
            "help": {"action": "shrink", "sentence": {"en": "Ask for 2.", "zh": "申请 2 个。"}},
        });
        assert_eq!(
            explanation(&said, Language::En),
            "train: queued\nIts team uses 4 of 4. [no_quota]\n  also: Two are before it. [behind_others]\n  \
             would help: Ask for 2. [shrink]\n  position in its queue: 3\n"
        );
        let idle = json!({"job": {"name": "train"}, "state": "running", "idle": {"state": "notified",
            "sentence": {"en": "None of its GPUs has computed.", "zh": "GPU 没有计算。"}}});
        assert_eq!(
            explanation(&idle, Language::En),
            "train: running\nNone of its GPUs has computed. [notified]\n"
        );
        assert!(explanation(&said, Language::Zh).contains("配额已用完。 [no_quota]"));
    }
}
