//! `reeve cancel`, `hold` and `release`: one act on each of the jobs named. The first refusal ends it, after saying
//! which were done.

use crate::client::{Call, Client};
use crate::output::Output;
use anyhow::Context;
use clap::Args;
use serde_json::{Map, Value};

#[derive(Debug, Args)]
pub(crate) struct ActArgs {
    /// Jobs, by id
    #[arg(required = true)]
    jobs: Vec<uuid::Uuid>,
    /// Why, for the record (cancel)
    #[arg(long)]
    reason: Option<String>,
}

pub(crate) async fn run(act: &str, args: ActArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let mut done = Vec::new();
    for job in &args.jobs {
        let mut body = Map::new();
        body.extend(args.reason.clone().map(|reason| ("reason".to_owned(), Value::String(reason))));
        let reply = client.send(Call::post(format!("/jobs/{job}/{act}"), Value::Object(body))).await;
        done.push(reply.with_context(|| format!("job {job} ({} of {} done)", done.len(), args.jobs.len()))?);
    }
    output.items(&done, &[("JOB", "/id"), ("NAME", "/name"), ("STATE", "/state"), ("HELD", "/held")])
}
