//! `reeve submit`. What flags say goes over what the file says, and that over the script's lines; the server judges it.

use super::job::array::{self, Indices};
use super::job::body::body;
use super::job::options::JobOptions;
use super::what_if::dry_run;
use crate::client::{Call, Client};
use crate::exit;
use crate::output::Output;
use anyhow::Context;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use uuid::Uuid;

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
    #[arg(long, conflicts_with = "array")]
    wait: bool,
    /// The job once for each index, which it finds in ARRAY_INDEX: 0-9, 0-9:2, 1,3,5-7
    #[arg(short = 'a', long, value_name = "INDICES", conflicts_with = "dry_run")]
    array: Option<Indices>,
    /// A shell or Python script with #REEVE or #SBATCH lines
    script: Option<PathBuf>,
    /// What to run; after a script, its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) async fn run(args: SubmitArgs, client: &Client, output: Output) -> anyhow::Result<ExitCode> {
    let mut body = body(&args.options, args.script.as_deref(), &args.command)?;
    array::expand(client, &mut body).await?;
    if let Some(indices) = &args.array {
        return submit_array(&body, indices, args.idempotency_key.as_deref(), client, output).await;
    }
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

async fn submit_array(
    job: &Value,
    indices: &Indices,
    key: Option<&str>,
    client: &Client,
    output: Output,
) -> anyhow::Result<ExitCode> {
    // The same key is the same array.
    let array = key.map_or_else(Uuid::new_v4, array::id_of);
    let mut call = Call::post("/jobs/batch", array::tasks(job, indices, array)?);
    if let Some(key) = key {
        call = call.key(key);
    }
    let mut made = client.send(call).await?;
    if output.is_json() {
        made["array"] = json!(array);
        output.json(&made)?;
    } else {
        println!("{array}");
        let count = made["items"].as_array().map_or(0, Vec::len);
        eprintln!("{count} jobs: `reeve jobs --label array={array}`, `reeve cancel --array {array}`");
    }
    Ok(ExitCode::SUCCESS)
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
