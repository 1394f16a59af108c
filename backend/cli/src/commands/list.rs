//! The lists: jobs, queues, nodes, quotas, loans, reclaims. They refuse to print without bound: `--limit`.

use crate::client::{Call, Client};
use crate::output::Output;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct JobsArgs {
    #[arg(long)]
    team: Option<String>,
    #[arg(long)]
    queue: Option<String>,
    /// Only these states, for example queued,running
    #[arg(long, value_delimiter = ',')]
    state: Vec<String>,
    #[arg(long)]
    kind: Option<String>,
    #[arg(long)]
    user: Option<String>,
    #[arg(long)]
    pool: Option<String>,
    /// Only names that contain this
    #[arg(long)]
    name: Option<String>,
    /// Only jobs that wait for this reason
    #[arg(long)]
    reason: Option<String>,
    /// Only jobs with this label; repeat for several
    #[arg(long, value_name = "NAME=VALUE")]
    label: Vec<String>,
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

pub(crate) async fn jobs(args: JobsArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let mut call = Call::get("/jobs")
        .query("team", args.team)
        .query("queue", args.queue)
        .query("kind", args.kind)
        .query("user", args.user)
        .query("pool", args.pool)
        .query("name_contains", args.name)
        .query("reason", args.reason);
    for state in args.state {
        call = call.query("state", Some(state));
    }
    for label in args.label {
        call = call.query("label", Some(label));
    }
    let items = client.all(call, args.limit).await?;
    let columns = [
        ("JOB", "/id"),
        ("NAME", "/name"),
        ("TEAM", "/team/slug"),
        ("KIND", "/kind"),
        ("PRIORITY", "/priority_class"),
        ("GPUS", "/gpus_total"),
        ("STATE", "/state"),
        ("LOAN", "/borrowed_gpus"),
        ("WAITS FOR", "/reason/code"),
        ("SUBMITTED", "/submitted_at"),
    ];
    output.items(&items, &columns)
}

#[derive(Debug, Args)]
pub(crate) struct QueueArgs {
    /// The queue whose line to show; without it, all queues
    queue: Option<String>,
    #[arg(long)]
    team: Option<String>,
    #[arg(long, default_value_t = 200)]
    limit: usize,
}

pub(crate) async fn queue(args: QueueArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    if let Some(queue) = args.queue {
        let items = client.all(Call::get(format!("/queues/{queue}/line")), args.limit).await?;
        let columns = [
            ("#", "/position"),
            ("JOB", "/job/id"),
            ("NAME", "/job/name"),
            ("STATE", "/state"),
            ("GPUS", "/gpus_total"),
            ("PRIORITY", "/priority_class"),
            ("WAITS FOR", "/reason_code"),
            ("SUBMITTED", "/submitted_at"),
        ];
        return output.items(&items, &columns);
    }
    let items = client.all(Call::get("/queues").query("team", args.team), args.limit).await?;
    let columns = [
        ("QUEUE", "/slug"),
        ("TEAM", "/team/slug"),
        ("ORDER", "/order"),
        ("STATE", "/state"),
        ("QUEUED", "/counts/queued"),
        ("RUNNING", "/counts/running"),
        ("LEAVING", "/counts/leaving"),
        ("USED", "/used_gpus"),
        ("PENDING", "/pending_gpus"),
        ("OLDEST", "/oldest_waiting_at"),
    ];
    output.items(&items, &columns)
}

#[derive(Debug, Args)]
pub(crate) struct NodesArgs {
    #[arg(long)]
    pool: Option<String>,
    #[arg(long)]
    state: Option<String>,
    #[arg(long, default_value_t = 200)]
    limit: usize,
}

pub(crate) async fn nodes(args: NodesArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let call = Call::get("/nodes").query("pool", args.pool).query("state", args.state);
    let mut items = client.all(call, args.limit).await?;
    for node in &mut items {
        let gpus = node["gpus"].as_array().map_or(0, Vec::len);
        let free = node["gpus"].as_array().into_iter().flatten();
        let free = free.filter(|gpu| gpu["jobs"].as_array().is_some_and(Vec::is_empty)).count();
        node["gpus_idle"] = format!("{free}/{gpus}").into();
    }
    let columns = [
        ("NODE", "/name"),
        ("POOL", "/pool/slug"),
        ("STATE", "/state"),
        ("IDLE", "/gpus_idle"),
        ("AGENT", "/agent_version"),
        ("LAST SEEN", "/last_seen_at"),
        ("NOTE", "/state_note"),
    ];
    output.items(&items, &columns)
}

#[derive(Debug, Args)]
pub(crate) struct QuotaArgs {
    #[arg(long)]
    team: Option<String>,
    #[arg(long)]
    pool: Option<String>,
}

pub(crate) async fn quota(args: QuotaArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let call = Call::get("/quotas").query("team", args.team).query("pool", args.pool);
    let columns = [
        ("TEAM", "/team/slug"),
        ("POOL", "/pool/slug"),
        ("GUARANTEED", "/guaranteed_gpus"),
        ("USED", "/use/used_gpus"),
        ("BORROWED", "/use/borrowed_gpus"),
        ("LENT", "/use/lent_gpus"),
        ("PENDING", "/use/pending_gpus"),
        ("LEAVING", "/use/leaving_gpus"),
        ("BORROW LIMIT", "/borrow_limit_gpus"),
        ("LEND LIMIT", "/lend_limit_gpus"),
    ];
    output.items(&client.all(call, 10_000).await?, &columns)
}

#[derive(Debug, Args)]
pub(crate) struct LoansArgs {
    #[arg(long)]
    pool: Option<String>,
    #[arg(long)]
    team: Option<String>,
    /// Also loans that have ended
    #[arg(long)]
    all: bool,
    #[arg(long, default_value_t = 200)]
    limit: usize,
}

pub(crate) async fn loans(args: LoansArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let open = (!args.all).then_some(true);
    let call = Call::get("/loans").query("pool", args.pool).query("team", args.team).query("open", open);
    let columns = [
        ("BORROWER", "/borrower/slug"),
        ("LENDER", "/lender/slug"),
        ("GPUS", "/gpus"),
        ("SINCE", "/started_at"),
        ("UNTIL", "/ended_at"),
    ];
    output.items(&client.all(call, args.limit).await?, &columns)
}

#[derive(Debug, Args)]
pub(crate) struct ReclaimsArgs {
    #[arg(long)]
    pool: Option<String>,
    #[arg(long)]
    team: Option<String>,
    #[arg(long)]
    state: Option<String>,
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

pub(crate) async fn reclaims(args: ReclaimsArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let call =
        Call::get("/reclaims").query("pool", args.pool).query("team", args.team).query("state", args.state);
    let columns = [
        ("RECLAIM", "/id"),
        ("BY TEAM", "/evictor_team/slug"),
        ("FOR JOB", "/evictor_job/name"),
        ("GPUS", "/gpus"),
        ("STATE", "/state"),
        ("END", "/end_reason"),
        ("AT", "/created_at"),
    ];
    output.items(&client.all(call, args.limit).await?, &columns)
}
