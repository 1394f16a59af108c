//! `reeve escalate`, `escalations`, `escalation` and `approvals`: asks for more than the rules give, and shows what was
//! asked. Whoever decides does so by `reeve approve` and its like.

use super::duration::secs;
use crate::client::{Call, Client};
use crate::output::{Output, cell, table};
use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Scope {
    /// Among the team's own jobs only
    Team,
    /// Against everybody
    Platform,
}

/// What is asked for: --level, --quota, --budget, --budget-exception or --never-evict.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reeve escalate JOB --level critical --for 2h --scope platform --reason 'the paper is due'
  reeve escalate --team speech --queue speech-train --level high --for 8h --reason 'release night'
  reeve escalate --team speech --quota h100=16 --reason 'two more people'
  reeve escalate --team speech --budget-exception BUDGET=50 --for 7d --reason 'exam week'
  reeve escalate JOB --never-evict --for 2d --reason 'it cannot be resumed'")]
pub(crate) struct EscalateArgs {
    /// A live job, by id; left out with --team
    job: Option<uuid::Uuid>,
    #[arg(long, conflicts_with = "job")]
    team: Option<String>,
    /// Only the team's jobs of this queue
    #[arg(long, requires = "team")]
    queue: Option<String>,
    /// Only the team's jobs of this kind; repeat for several
    #[arg(long, requires = "team")]
    kind: Vec<String>,
    /// The priority class wanted
    #[arg(long, group = "what")]
    level: Option<String>,
    /// Against whom it counts
    #[arg(long, value_enum, requires = "level")]
    scope: Option<Scope>,
    /// The guarantee wanted
    #[arg(long, group = "what", value_name = "POOL=GPUS", requires = "team")]
    quota: Option<String>,
    /// High-priority GPU-hours on top of the month's budget
    #[arg(long, group = "what", value_name = "GPU-HOURS", requires = "team")]
    budget: Option<u64>,
    /// More than a budget of the team, or of one above it, in the budget's unit; its id stands in the refusal
    #[arg(long, group = "what", value_name = "BUDGET=AMOUNT", requires = "team")]
    budget_exception: Option<String>,
    /// That the job is not evicted, on a loan either
    #[arg(long, group = "what", requires = "job")]
    never_evict: bool,
    /// How long: 90m, 2h, 7d; left out only for a quota, then for good
    #[arg(long = "for", value_name = "TIME", value_parser = secs)]
    duration: Option<i64>,
    /// When it is to begin, for example 2026-12-01T20:00:00+08:00; as soon as it is approved, when left out
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Why, for those who decide
    #[arg(long)]
    reason: String,
    /// An emergency: active at once, for those whom the policy lets; a review falls due
    #[arg(long)]
    break_glass: bool,
    /// Only say which way it would go, whom it would evict and what it would cost
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn request(args: EscalateArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let dry_run = args.dry_run;
    let body = body(args)?;
    if dry_run {
        let said = client.send(Call::post("/escalations/preview", body)).await?;
        return if output.is_json() { output.json(&said) } else { print_preview(&said) };
    }
    let made = client.send(Call::post("/escalations", body)).await?;
    print_one(&made, output)
}

fn body(args: EscalateArgs) -> anyhow::Result<Value> {
    let mut body = Map::new();
    let asks_for = if args.level.is_some() {
        "priority"
    } else if args.quota.is_some() {
        "quota"
    } else if args.budget.is_some() || args.budget_exception.is_some() {
        "budget"
    } else if args.never_evict {
        "never_evict"
    } else {
        bail!("say what is asked for: --level, --quota, --budget, --budget-exception or --never-evict");
    };
    ensure!(args.job.is_some() || args.team.is_some(), "name a job, or a team by --team");
    body.insert("asks_for".to_owned(), json!(asks_for));
    body.insert("reason".to_owned(), json!(args.reason));
    if let Some(quota) = &args.quota {
        let (pool, gpus) = quota.split_once('=').context("--quota: POOL=GPUS, for example h100=16")?;
        let gpus: u32 = gpus.parse().context("--quota: GPUS is a number")?;
        body.insert("pool".to_owned(), json!(pool));
        body.insert("guaranteed_gpus".to_owned(), json!(gpus));
    }
    if let Some(exception) = &args.budget_exception {
        let (budget, amount) =
            exception.split_once('=').context("--budget-exception: BUDGET=AMOUNT, the budget by its id")?;
        let budget: uuid::Uuid = budget.parse().context("--budget-exception: BUDGET is an id")?;
        body.insert("budget".to_owned(), json!(budget));
        body.insert("amount".to_owned(), json!(amount));
    }
    let scope = args.scope.map(|scope| match scope {
        Scope::Team => "team",
        Scope::Platform => "platform",
    });
    let optional = [
        ("job", args.job.map(|job| json!(job))),
        ("team", args.team.map(|team| json!(team))),
        ("queue", args.queue.map(|queue| json!(queue))),
        ("kinds", (!args.kind.is_empty()).then(|| json!(args.kind))),
        ("level", args.level.map(|level| json!(level))),
        ("scope", scope.map(|scope| json!(scope))),
        ("gpu_hours", args.budget.map(|hours| json!(hours))),
        ("duration_secs", args.duration.map(|secs| json!(secs))),
        ("starts_at", args.from.map(|from| json!(from))),
        ("break_glass", args.break_glass.then_some(Value::Bool(true))),
    ];
    body.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    Ok(Value::Object(body))
}

#[derive(Debug, Args)]
pub(crate) struct EscalationsArgs {
    /// Repeat for several: in_review, approved, active, expired, revoked, denied, withdrawn, timed_out
    #[arg(long)]
    state: Vec<String>,
    #[arg(long)]
    team: Option<String>,
    #[arg(long)]
    job: Option<uuid::Uuid>,
    /// Only what you asked for
    #[arg(long)]
    mine: bool,
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

const COLUMNS: [(&str, &str); 9] = [
    ("ID", "/id"),
    ("STATE", "/state"),
    ("ASKS FOR", "/asks_for"),
    ("LEVEL", "/granted/level"),
    ("TEAM", "/team/slug"),
    ("JOB", "/job/name"),
    ("BY", "/requested_by/username"),
    ("UNTIL", "/expires_at"),
    ("REASON", "/reason"),
];

pub(crate) async fn list(args: EscalationsArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let mut call = Call::get("/escalations")
        .query("team", args.team)
        .query("job", args.job)
        .query("mine", args.mine.then_some("true"));
    for state in args.state {
        call = call.query("state", Some(state));
    }
    output.items(&client.all(call, args.limit).await?, &COLUMNS)
}

#[derive(Debug, Args)]
pub(crate) struct InboxArgs {
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

/// What waits for whoever asks.
pub(crate) async fn inbox(args: InboxArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let items = client.all(Call::get("/approvals"), args.limit).await?;
    output.items(
        &items,
        &[
            ("ID", "/escalation/id"),
            ("WAITS FOR", "/waits_for"),
            ("ASKS FOR", "/escalation/asks_for"),
            ("LEVEL", "/escalation/granted/level"),
            ("SCOPE", "/escalation/scope"),
            ("SECONDS", "/escalation/granted/duration_secs"),
            ("TEAM", "/escalation/team/slug"),
            ("JOB", "/escalation/job/name"),
            ("BY", "/escalation/requested_by/username"),
            ("GPU-HOURS", "/escalation/cost_gpu_hours"),
            ("REASON", "/escalation/reason"),
        ],
    )
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The escalation's id
    id: uuid::Uuid,
    /// Leave out what it would do now
    #[arg(long)]
    no_preview: bool,
}

pub(crate) async fn show(args: ShowArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let found = client.send(Call::get(format!("/escalations/{}", args.id))).await?;
    let open = matches!(found["state"].as_str(), Some("in_review" | "approved"));
    let preview = if open && !args.no_preview {
        Some(client.send(Call::get(format!("/escalations/{}/preview", args.id))).await?)
    } else {
        None
    };
    if output.is_json() {
        return output.json(&json!({"escalation": found, "preview": preview}));
    }
    print_one(&found, output)?;
    preview.as_ref().map_or(Ok(()), print_preview)
}

const FIELDS: [(&str, &str); 19] = [
    ("id", "/id"),
    ("state", "/state"),
    ("asks for", "/asks_for"),
    ("team", "/team/slug"),
    ("job", "/job/name"),
    ("level asked", "/asked/level"),
    ("level granted", "/granted/level"),
    ("scope", "/scope"),
    ("pool", "/pool/slug"),
    ("guaranteed gpus", "/granted/guaranteed_gpus"),
    ("gpu-hours", "/granted/gpu_hours"),
    ("budget", "/budget/id"),
    ("budget's unit", "/budget/unit"),
    ("amount granted", "/granted/amount"),
    ("seconds", "/granted/duration_secs"),
    ("asked by", "/requested_by/username"),
    ("reason", "/reason"),
    ("until", "/expires_at"),
    ("ended because", "/end_note"),
];

/// One in words: what it is, and who decided or may decide each step.
pub(crate) fn print_one(found: &Value, output: Output) -> anyhow::Result<()> {
    if output.is_json() {
        return output.json(found);
    }
    for (title, pointer) in FIELDS {
        if found.pointer(pointer).is_some_and(|value| !value.is_null()) {
            println!("{title:<16} {}", cell(found, pointer));
        }
    }
    for step in found["steps"].as_array().into_iter().flatten() {
        let said = match step["decision"].as_str() {
            Some(decision) => format!(
                "{decision} by {}{}",
                cell(step, "/decided_by/username"),
                step["comment"].as_str().map(|_| format!(": {}", cell(step, "/comment"))).unwrap_or_default()
            ),
            None => format!("{} may decide", seats(&step["any_of"])),
        };
        println!("step {:<11} {said}", cell(step, "/number"));
    }
    if !found["review"].is_null() && found["review"]["outcome"].is_null() {
        println!(
            "review due       {} by {}",
            cell(found, "/review/due_at"),
            seats(&found["review"]["any_of"])
        );
    }
    Ok(())
}

fn seats(any_of: &Value) -> String {
    let seat = |seat: &Value| match seat["role"].as_str() {
        Some(role) => format!("{role} of {}", cell(seat, "/team/slug")),
        None => cell(seat, "/platform_role"),
    };
    let named: Vec<String> = any_of.as_array().into_iter().flatten().map(seat).collect();
    if named.is_empty() { "nobody".to_owned() } else { named.join(" or ") }
}

fn print_preview(said: &Value) -> anyhow::Result<()> {
    if let Some(route) = said["route"].as_object() {
        let steps = route["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
        let steps: Vec<String> = steps.iter().map(seats).collect();
        println!(
            "way              {} (rule {}){}",
            cell(&said["route"], "/outcome"),
            cell(&said["route"], "/rule"),
            if steps.is_empty() { String::new() } else { format!(": {}", steps.join(", then ")) }
        );
    }
    println!("may cost         {} GPU-hours", cell(said, "/cost/gpu_hours"));
    if !said["cost"]["budget"].is_null() {
        println!("budget           {} GPU-hours left", cell(said, "/cost/budget/remaining_gpu_hours"));
    }
    if !said["budget"].is_null() {
        for (title, pointer) in [("budget now", "/budget/before"), ("budget then", "/budget/after")] {
            let of = |field: &str| cell(said, &format!("{pointer}/{field}"));
            println!(
                "{title:<16} {} and {} more; {} used: {}",
                of("amount"),
                of("extra"),
                of("used"),
                of("state")
            );
        }
    }
    for (list, title) in [("starts", "would start"), ("evictions", "would be asked to leave")] {
        let found = said["what_if"][list]["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        if said["what_if"].is_null() {
            continue;
        }
        println!("{title}: {}", cell(&said["what_if"], &format!("/{list}/total")));
        if !found.is_empty() {
            let row = |item: &Value| {
                ["/job/name", "/job/team/slug", "/cause"].map(|pointer| cell(item, pointer)).to_vec()
            };
            let titles = ["JOB", "TEAM", "CAUSE"].map(str::to_owned).to_vec();
            print!("{}", table(titles, found.iter().map(row).collect()));
        }
    }
    Ok(())
}
