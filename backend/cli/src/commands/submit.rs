//! `reeve submit`. What flags say goes over what the file says, and that over the script's lines; the server judges it.

use super::job::body::body;
use super::job::options::JobOptions;
use super::what_if::dry_run;
use crate::client::{Call, Client};
use crate::exit;
use crate::output::Output;
use anyhow::Context;
use clap::Args;
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    after_help = "A script's text is sent along: nothing has to lie on the nodes. Its first comment lines may hold \
flags, as `#REEVE --gpus 8` or as `#SBATCH`; those of the command line go over them."
)]
pub(crate) struct SubmitArgs {
    /// Only tell what would happen now: nothing is submitted
    #[arg(long, conflicts_with_all = ["wait", "idempotency_key"])]
    dry_run: bool,
    #[command(flatten)]
    options: JobOptions,
    /// Submitting again with the same key makes no second job
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Wait until the job has ended, and end as it did
    #[arg(long)]
    wait: bool,
    /// A shell or Python script with #REEVE or #SBATCH lines
    script: Option<PathBuf>,
    /// What to run; after a script, its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) async fn run(args: SubmitArgs, client: &Client, output: Output) -> anyhow::Result<ExitCode> {
    let body = body(&args.options, args.script.as_deref(), &args.command)?;
    if args.dry_run {
        dry_run(body, client, output).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut call = Call::post("/jobs", body);
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
