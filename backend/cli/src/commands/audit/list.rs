//! Reading the log through the API.

use crate::client::{Call, Client};
use crate::output::Output;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct Filter {
    /// Who: an id, or a name as it was then
    #[arg(long)]
    actor: Option<String>,
    /// What: `job.submitted`, or `job.*`
    #[arg(long)]
    action: Option<String>,
    #[arg(long, value_name = "TYPE")]
    subject_type: Option<String>,
    #[arg(long, value_name = "ID")]
    subject_id: Option<String>,
    /// A team and what is below it
    #[arg(long)]
    team: Option<String>,
    /// Not before: RFC 3339, for example 2026-11-01T00:00:00Z
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Before
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// allowed or denied
    #[arg(long, value_name = "WORD")]
    outcome: Option<String>,
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

impl Filter {
    pub(super) fn add_to(&self, call: Call) -> Call {
        call.query("actor", self.actor.as_ref())
            .query("action", self.action.as_ref())
            .query("subject_type", self.subject_type.as_ref())
            .query("subject_id", self.subject_id.as_ref())
            .query("team", self.team.as_ref())
            .query("from", self.from.as_ref())
            .query("to", self.to.as_ref())
            .query("outcome", self.outcome.as_ref())
            .query("request_id", self.request_id.as_ref())
    }
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    filter: Filter,
    /// At most so many
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    position: i64,
}

#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// At most so many
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

pub(super) async fn events(args: ListArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let items = client.all(args.filter.add_to(Call::get("/audit")), args.limit).await?;
    output.items(
        &items,
        &[
            ("POSITION", "/position"),
            ("WHEN", "/occurred_at"),
            ("WHO", "/actor/name"),
            ("ACTION", "/action"),
            ("OUTCOME", "/outcome"),
            ("TEAM", "/team/slug"),
            ("SUBJECT", "/subject/id"),
        ],
    )
}

pub(super) async fn show(args: ShowArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let event = client.send(Call::get(format!("/audit/{}", args.position))).await?;
    output.json(&event)
}

pub(super) async fn checkpoints(args: PageArgs, client: &Client) -> anyhow::Result<()> {
    for checkpoint in client.all(Call::get("/audit/checkpoints"), args.limit).await? {
        println!("{checkpoint}");
    }
    Ok(())
}

pub(super) async fn status(client: &Client, output: Output) -> anyhow::Result<()> {
    let status = client.send(Call::get("/audit/status")).await?;
    output.json(&status)
}

pub(super) async fn keys(client: &Client, output: Output) -> anyhow::Result<()> {
    let keys = client.send(Call::get("/audit/keys")).await?;
    let items = keys["items"].as_array().cloned().unwrap_or_default();
    let columns = [
        ("KEY", "/key_id"),
        ("PUBLIC KEY", "/public_key"),
        ("SINCE", "/created_at"),
        ("ENDORSED BY", "/endorsed_by"),
    ];
    output.items(&items, &columns)
}
