//! `reeve budgets`: list and make monthly budgets.

use crate::client::{Call, Client};
use crate::output::Output;
use clap::Subcommand;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum BudgetsCommand {
    /// Budgets with this month's use
    List {
        /// A team and what is below it
        #[arg(long)]
        team: Option<String>,
    },
    /// Make a budget
    Create {
        #[arg(long)]
        team: String,
        /// gpu_hours or money
        #[arg(long)]
        unit: String,
        /// A month
        #[arg(long)]
        amount: String,
        /// warn, approval or block
        #[arg(long, default_value = "warn")]
        action: String,
        /// Only this class
        #[arg(long, value_name = "CLASS")]
        priority: Option<String>,
        #[arg(long, default_value = "")]
        note: String,
    },
}

pub(crate) async fn run(command: BudgetsCommand, client: &Client, output: Output) -> anyhow::Result<()> {
    match command {
        BudgetsCommand::List { team } => {
            let items = client.all(Call::get("/budgets").query("team", team.as_ref()), 10_000).await?;
            let columns = [
                ("TEAM", "/team/slug"),
                ("CLASS", "/priority_class"),
                ("UNIT", "/unit"),
                ("AMOUNT", "/amount"),
                ("USED", "/used"),
                ("PERCENT", "/percent"),
                ("STATE", "/state"),
                ("ACTION", "/action"),
                ("FORECAST", "/forecast"),
                ("ID", "/id"),
            ];
            output.items(&items, &columns)
        }
        BudgetsCommand::Create { team, unit, amount, action, priority, note } => {
            let body = json!({"team": team, "unit": unit, "amount": amount, "action": action,
                "priority_class": priority, "note": note});
            output.json(&client.send(Call::post("/budgets", body)).await?)
        }
    }
}
