//! `reeve approve`, `deny`, `withdraw`, `revoke`, `renew`, `delegate` and `review`: one act on one escalation.

use super::duration::secs;
use super::escalate::print_one;
use crate::client::{Call, Client};
use crate::output::Output;
use anyhow::Context;
use clap::{Args, ValueEnum};
use reqwest::header::ETAG;
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// The whole, or less of it.
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// The escalation's id
    id: Uuid,
    /// A lower level than what is asked
    #[arg(long)]
    level: Option<String>,
    /// A shorter time: 90m, 2h
    #[arg(long = "for", value_name = "TIME", value_parser = secs)]
    duration: Option<i64>,
    /// A smaller guarantee (quota)
    #[arg(long)]
    gpus: Option<u32>,
    /// Fewer GPU-hours (budget)
    #[arg(long)]
    gpu_hours: Option<u64>,
    /// A smaller amount, in the budget's unit (budget exception)
    #[arg(long)]
    amount: Option<String>,
    #[arg(long)]
    comment: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CommentArgs {
    /// The escalation's id
    id: Uuid,
    /// Why
    #[arg(long)]
    comment: String,
}

#[derive(Debug, Args)]
pub(crate) struct WithdrawArgs {
    /// The escalation's id
    id: Uuid,
    #[arg(long)]
    comment: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RenewArgs {
    /// The escalation's id
    id: Uuid,
    /// How long beyond its present end: 90m, 2h
    #[arg(long = "for", value_name = "TIME", value_parser = secs)]
    duration: i64,
    #[arg(long)]
    reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct DelegateArgs {
    /// The escalation's id
    id: Uuid,
    /// Username or id
    #[arg(long)]
    to: String,
    #[arg(long)]
    comment: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Outcome {
    /// It was right
    Confirmed,
    /// It should not have been; what is still active of it ends
    Objected,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    /// The escalation's id
    id: Uuid,
    #[arg(value_enum)]
    outcome: Outcome,
    #[arg(long)]
    comment: String,
}

pub(crate) async fn approve(args: ApproveArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let body = [
        ("level", args.level.map(|level| json!(level))),
        ("duration_secs", args.duration.map(|secs| json!(secs))),
        ("guaranteed_gpus", args.gpus.map(|gpus| json!(gpus))),
        ("gpu_hours", args.gpu_hours.map(|hours| json!(hours))),
        ("amount", args.amount.map(|amount| json!(amount))),
        ("comment", args.comment.map(|comment| json!(comment))),
    ];
    decide("approve", args.id, given(body), client, output).await
}

pub(crate) async fn deny(args: CommentArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    decide("deny", args.id, json!({"comment": args.comment}), client, output).await
}

pub(crate) async fn withdraw(args: WithdrawArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let body = given([("comment", args.comment.map(|comment| json!(comment)))]);
    act("withdraw", args.id, body, client, output).await
}

pub(crate) async fn revoke(args: CommentArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    act("revoke", args.id, json!({"comment": args.comment}), client, output).await
}

pub(crate) async fn renew(args: RenewArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let body = json!({"duration_secs": args.duration, "reason": args.reason});
    act("renew", args.id, body, client, output).await
}

pub(crate) async fn delegate(args: DelegateArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let body = given([("to", Some(json!(args.to))), ("comment", args.comment.map(|comment| json!(comment)))]);
    act("delegate", args.id, body, client, output).await
}

pub(crate) async fn review(args: ReviewArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let outcome = match args.outcome {
        Outcome::Confirmed => "confirmed",
        Outcome::Objected => "objected",
    };
    let body = json!({"outcome": outcome, "comment": args.comment});
    act("review", args.id, body, client, output).await
}

fn given<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(fields.collect::<Map<_, _>>())
}

/// On what stands there now: read a moment before, so that a change in between is told and not decided on.
async fn decide(verb: &str, id: Uuid, body: Value, client: &Client, output: Output) -> anyhow::Result<()> {
    let (headers, _) = client.send_raw(Call::get(format!("/escalations/{id}"))).await?;
    let tag = headers.get(ETAG).and_then(|tag| tag.to_str().ok()).context("the server named no version")?;
    let call = Call::post(format!("/escalations/{id}/{verb}"), body).header("If-Match", tag);
    print_one(&client.send(call).await?, output)
}

async fn act(verb: &str, id: Uuid, body: Value, client: &Client, output: Output) -> anyhow::Result<()> {
    print_one(&client.send(Call::post(format!("/escalations/{id}/{verb}"), body)).await?, output)
}
