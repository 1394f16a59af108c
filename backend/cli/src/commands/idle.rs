//! `reeve idle` and `reeve snooze`: jobs whose GPUs compute nothing, with the evidence, and putting off what follows.

use super::duration;
use crate::client::{Call, Client};
use crate::output::{Output, cell};
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
pub(crate) struct IdleArgs {
    #[arg(long)]
    team: Option<String>,
    /// One job's whole history
    #[arg(long)]
    job: Option<uuid::Uuid>,
    /// Also what is over
    #[arg(long)]
    all: bool,
    /// Print the evidence as a sentence in Chinese
    #[arg(long)]
    zh: bool,
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

pub(crate) async fn list(args: IdleArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let closed = args.all.then_some(true);
    let call =
        Call::get("/idle-notices").query("team", args.team).query("job", args.job).query("closed", closed);
    let columns = [
        ("JOB", "/job/id"),
        ("NAME", "/job/name"),
        ("TEAM", "/job/team/slug"),
        ("GPUS", "/gpus"),
        ("IDLE SINCE", "/idle_since"),
        ("STATE", "/state"),
        ("THEN", "/action"),
        ("NOT BEFORE", "/act_at"),
        ("EVIDENCE", if args.zh { "/sentence/zh" } else { "/sentence/en" }),
    ];
    output.items(&client.all(call, args.limit).await?, &columns)
}

#[derive(Debug, Args)]
pub(crate) struct SnoozeArgs {
    /// A job, by id
    job: uuid::Uuid,
    /// For how much longer nothing happens to it: 30m, 2h
    #[arg(value_parser = duration::secs)]
    span: i64,
    /// Why, for the record
    #[arg(long)]
    reason: Option<String>,
}

pub(crate) async fn snooze(args: SnoozeArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let mut body = json!({"secs": args.span});
    if let Some(reason) = args.reason {
        body["reason"] = reason.into();
    }
    let notice = client.send(Call::post(format!("/jobs/{}/snooze", args.job), body)).await?;
    let word = format!("nothing happens to it before {}", cell(&notice, "/act_at"));
    output.done(&notice, &word)
}
