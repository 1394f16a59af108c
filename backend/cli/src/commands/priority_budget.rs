//! `reeve priority-budget`: high-priority GPU-hours a month, and what is left of them.

use crate::client::{Call, Client};
use crate::output::Output;
use clap::Subcommand;
use serde_json::json;

const COLUMNS: [(&str, &str); 7] = [
    ("TEAM", "/team/slug"),
    ("MONTH", "/month"),
    ("GPU-HOURS", "/gpu_hours"),
    ("ON TOP", "/exception_gpu_hours"),
    ("USED", "/used_gpu_hours"),
    ("COMMITTED", "/committed_gpu_hours"),
    ("LEFT", "/remaining_gpu_hours"),
];

#[derive(Debug, Subcommand)]
pub(crate) enum PriorityBudgetCommand {
    /// List budgets with their month's figures
    List {
        #[arg(long)]
        team: Option<String>,
    },
    /// Set a team's budget
    Set {
        team: String,
        /// A calendar month's
        gpu_hours: u64,
    },
    /// Take a team's budget away
    Remove { team: String },
}

pub(crate) async fn run(
    command: PriorityBudgetCommand,
    client: &Client,
    output: Output,
) -> anyhow::Result<()> {
    match command {
        PriorityBudgetCommand::List { team } => {
            let call = Call::get("/priority-budgets").query("team", team);
            output.items(&client.all(call, 1_000).await?, &COLUMNS)
        }
        PriorityBudgetCommand::Set { team, gpu_hours } => {
            let known = client.all(Call::get("/priority-budgets").query("team", Some(&team)), 1).await?;
            let call = Call::put(format!("/priority-budgets/{team}"), json!({"gpu_hours": gpu_hours}));
            let call = match known.first() {
                Some(known) => call.header("If-Match", format!("\"{}\"", known["version"])),
                None => call.header("If-None-Match", "*"),
            };
            output.items(&[client.send(call).await?], &COLUMNS)
        }
        PriorityBudgetCommand::Remove { team } => {
            let call = Call::delete(format!("/priority-budgets/{team}")).header("If-Match", "*");
            client.send(call).await.map(|_| ()).map_err(Into::into)
        }
    }
}
