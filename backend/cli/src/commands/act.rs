//! `reeve cancel`, `hold` and `release`: one act on each of the jobs named. The first refusal ends it, after saying
//! which were done; a task of an array that has ended meanwhile is none.

use super::job::array;
use crate::client::{Call, Client, ClientError};
use crate::output::Output;
use anyhow::Context;
use clap::Args;
use serde_json::{Map, Value};
use uuid::Uuid;

#[derive(Debug, Args)]
pub(crate) struct ActArgs {
    /// Jobs, by id
    #[arg(required_unless_present = "array")]
    jobs: Vec<Uuid>,
    /// All of an array that it concerns
    #[arg(long, value_name = "ARRAY")]
    array: Vec<Uuid>,
    /// Why, for the record (cancel)
    #[arg(long)]
    reason: Option<String>,
}

pub(crate) async fn run(act: &str, args: ActArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let mut jobs: Vec<(Uuid, bool)> = args.jobs.iter().map(|job| (*job, true)).collect();
    // Jobs that run are neither held nor released.
    let states: &[&str] = if act == "cancel" { &["queued", "starting", "running"] } else { &["queued"] };
    for array in &args.array {
        let tasks = array::of(client, &array.to_string(), Some(states)).await?;
        jobs.extend(tasks.iter().filter_map(|task| Some((task["id"].as_str()?.parse().ok()?, false))));
    }
    let mut done = Vec::new();
    for (job, by_name) in &jobs {
        let mut body = Map::new();
        body.extend(args.reason.clone().map(|reason| ("reason".to_owned(), Value::String(reason))));
        let reply = client.send(Call::post(format!("/jobs/{job}/{act}"), Value::Object(body))).await;
        if !by_name && matches!(&reply, Err(ClientError::Refused(problem)) if problem.status == 409) {
            continue;
        }
        done.push(reply.with_context(|| format!("job {job} ({} of {} done)", done.len(), jobs.len()))?);
    }
    output.items(&done, &[("JOB", "/id"), ("NAME", "/name"), ("STATE", "/state"), ("HELD", "/held")])
}
