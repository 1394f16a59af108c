//! `reeve submit`. What flags say goes over what the file says; the server judges it.

use super::what_if::dry_run;
use crate::client::{Call, Client};
use crate::exit;
use crate::output::Output;
use anyhow::{Context, ensure};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct SubmitArgs {
    /// The job as JSON or YAML, in the words of the REST API
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Only tell what would happen now: nothing is submitted
    #[arg(long, conflicts_with_all = ["wait", "idempotency_key"])]
    dry_run: bool,
    #[arg(long)]
    name: Option<String>,
    #[arg(long)]
    team: Option<String>,
    #[arg(long)]
    queue: Option<String>,
    /// training, inference, experiment, evaluation or batch
    #[arg(long)]
    kind: Option<String>,
    /// critical, high, normal, low or scavenger
    #[arg(long)]
    priority: Option<String>,
    /// Whole GPUs of each replica
    #[arg(long)]
    gpus: Option<u32>,
    #[arg(long)]
    replicas: Option<u32>,
    /// Pools that will do, best first
    #[arg(long, value_delimiter = ',')]
    pools: Vec<String>,
    #[arg(long, value_name = "SECS")]
    time_limit_secs: Option<u64>,
    /// none, on_signal or periodic
    #[arg(long)]
    checkpoint: Option<String>,
    #[arg(long = "env", value_name = "K=V", value_parser = parse_pair)]
    env: Vec<(String, String)>,
    #[arg(long)]
    working_dir: Option<String>,
    /// Do not start before it is released
    #[arg(long)]
    hold: bool,
    /// Submitting again with the same key makes no second job
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Wait until the job has ended, and end as it did
    #[arg(long)]
    wait: bool,
    /// What to run
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) async fn run(args: SubmitArgs, client: &Client, output: Output) -> anyhow::Result<ExitCode> {
    if args.dry_run {
        dry_run(body(&args)?, client, output).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut call = Call::post("/jobs", body(&args)?);
    if let Some(key) = &args.idempotency_key {
        call = call.key(key);
    }
    let job = client.send(call).await?;
    let id = job["id"].as_str().context("the reply holds no id")?.to_owned();
    if !args.wait {
        if output.is_json() {
            output.json(&job)?;
        } else {
            println!("{id}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{id}");
    let ended = wait_for_end(client, &id).await?;
    if output.is_json() {
        output.json(&ended)?;
    }
    Ok(match ended["state"].as_str() {
        Some("succeeded") => ExitCode::SUCCESS,
        Some("cancelled") => ExitCode::from(exit::JOB_CANCELLED),
        _ => ExitCode::from(exit::JOB_FAILED),
    })
}

async fn wait_for_end(client: &Client, id: &str) -> anyhow::Result<Value> {
    let mut before = String::new();
    loop {
        let job = client.send(Call::get(format!("/jobs/{id}"))).await?;
        let state = job["state"].as_str().unwrap_or_default().to_owned();
        if state != before {
            eprintln!("{state}");
            before = state;
        }
        if !job["finished_at"].is_null() {
            return Ok(job);
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

fn body(args: &SubmitArgs) -> anyhow::Result<Value> {
    let mut body = args.file.as_deref().map(read).transpose()?.unwrap_or_default();
    let texts = [
        ("name", &args.name),
        ("team", &args.team),
        ("queue", &args.queue),
        ("kind", &args.kind),
        ("priority", &args.priority),
        ("checkpoint", &args.checkpoint),
        ("working_dir", &args.working_dir),
    ];
    body.extend(texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), json!(text.as_ref()?)))));
    body.extend(args.gpus.map(|gpus| ("gpus".to_owned(), json!(gpus))));
    body.extend(args.replicas.map(|replicas| ("replicas".to_owned(), json!(replicas))));
    body.extend(args.time_limit_secs.map(|secs| ("time_limit_secs".to_owned(), json!(secs))));
    if !args.pools.is_empty() {
        body.insert("pools".into(), json!(args.pools));
    }
    if !args.command.is_empty() {
        body.insert("command".into(), json!(args.command));
    }
    if args.hold {
        body.insert("hold".into(), json!(true));
    }
    if !args.env.is_empty() {
        let env = body.entry("env").or_insert_with(|| json!({}));
        let env = env.as_object_mut().context("env in the file is no mapping")?;
        env.extend(args.env.iter().map(|(key, value)| (key.clone(), json!(value))));
    }
    if !body.contains_key("name")
        && let Some(program) = args.command.first()
    {
        let name = Path::new(program).file_name().map(|name| name.to_string_lossy().into_owned());
        body.insert("name".into(), json!(name));
    }
    Ok(Value::Object(body))
}

fn read(file: &Path) -> anyhow::Result<Map<String, Value>> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    // JSON is YAML.
    let value: Value = serde_yaml_ng::from_str(&text).with_context(|| file.display().to_string())?;
    ensure!(value.is_object(), "{}: a job is a mapping", file.display());
    Ok(value.as_object().cloned().unwrap_or_default())
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or("K=V is wanted")?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: SubmitArgs,
    }

    fn from_line(line: &[&str]) -> Value {
        let line = std::iter::once("submit").chain(line.iter().copied());
        body(&Line::try_parse_from(line).expect("parses").args).expect("a body")
    }

    #[test]
    fn flags_become_the_words_of_the_api() {
        let line = [
            "--team",
            "a",
            "--gpus",
            "2",
            "--env",
            "LR=0.1=x",
            "--pools",
            "p,q",
            "--",
            "/bin/train",
            "--fast",
        ];
        let expected = json!({"name": "train", "team": "a", "gpus": 2, "env": {"LR": "0.1=x"},
            "pools": ["p", "q"], "command": ["/bin/train", "--fast"]});
        assert_eq!(from_line(&line), expected);
    }

    #[test]
    fn flags_win_over_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("job.yaml");
        std::fs::write(&file, "name: x\nteam: a\ngpus: 4\nenv: {A: '1'}\ncommand: [train]\n")
            .expect("written");
        let file = file.to_string_lossy();
        let got = from_line(&["--file", &file, "--gpus", "8", "--env", "B=2"]);
        let expected =
            json!({"name": "x", "team": "a", "gpus": 8, "env": {"A": "1", "B": "2"}, "command": ["train"]});
        assert_eq!(got, expected);
    }
}
