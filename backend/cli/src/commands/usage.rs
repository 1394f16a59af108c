//! `reeve usage`: GPU-hours and what they cost.

use crate::client::{Call, Client};
use crate::output::Output;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct UsageArgs {
    /// The first day (UTC), for example 2026-11-01
    #[arg(long, value_name = "DAY")]
    from: String,
    /// The day after the last
    #[arg(long, value_name = "DAY")]
    to: String,
    /// Any of day, team, pool, kind, priority_class, queue, job, separated by commas
    #[arg(long, default_value = "team", value_name = "GROUPS")]
    by: String,
    /// A team and what is below it
    #[arg(long)]
    team: Option<String>,
    #[arg(long)]
    pool: Option<String>,
    #[arg(long)]
    kind: Option<String>,
}

pub(crate) async fn run(args: UsageArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let call = Call::get("/usage")
        .query("from", Some(&args.from))
        .query("to", Some(&args.to))
        .query("group_by", Some(&args.by))
        .query("team", args.team.as_ref())
        .query("pool", args.pool.as_ref())
        .query("kind", args.kind.as_ref());
    let usage = client.send(call).await?;
    if output.is_json() {
        return output.json(&usage);
    }
    let mut items = usage["items"].as_array().cloned().unwrap_or_default();
    items.push(usage["totals"].clone());
    output.items(
        &items,
        &[
            ("DAY", "/day"),
            ("TEAM", "/team/slug"),
            ("POOL", "/pool/slug"),
            ("QUEUE", "/queue/slug"),
            ("KIND", "/kind"),
            ("CLASS", "/priority_class"),
            ("JOB", "/job/name"),
            ("GUARANTEED", "/guaranteed_gpu_hours"),
            ("BORROWED", "/borrowed_gpu_hours"),
            ("LENT", "/lent_gpu_hours"),
            ("IDLE", "/idle_gpu_hours"),
            ("DOWN", "/down_gpu_hours"),
            ("COST", "/cost"),
        ],
    )?;
    println!(
        "GPU-hours; the last line is the sum. Counted to {}, final to {}",
        usage["as_of"].as_str().unwrap_or("-"),
        usage["settled_until"].as_str().unwrap_or("-")
    );
    Ok(())
}
