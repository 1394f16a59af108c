//! `reeve statement`: a month's statements, and closing it.

use crate::client::{Call, Client};
use crate::output::Output;
use anyhow::Context;
use clap::Subcommand;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum StatementCommand {
    /// What each team owes for a month
    List {
        /// As 2026-11; this month when left out
        #[arg(long)]
        month: Option<String>,
    },
    /// One team's statement
    Show {
        #[arg(long)]
        month: String,
        #[arg(long)]
        team: String,
    },
    /// Months that are proposed or closed
    Months,
    /// Propose to close a month, or close one that somebody else has proposed
    Close {
        #[arg(long)]
        month: String,
        /// What is closed is what was seen: the digest that `list --json` shows
        #[arg(long)]
        digest: String,
    },
    /// Take a proposal back
    Reopen {
        #[arg(long)]
        month: String,
    },
    /// Book a correction of a closed month, as a new line of the open one
    Correct {
        #[arg(long)]
        month: String,
        #[arg(long)]
        team: String,
        /// To the cent; negative = the team gets it back
        #[arg(long, allow_hyphen_values = true)]
        amount: String,
        #[arg(long)]
        reason: String,
    },
}

pub(crate) async fn run(command: StatementCommand, client: &Client, output: Output) -> anyhow::Result<()> {
    match command {
        StatementCommand::List { month } => {
            let statements = client.send(Call::get("/statements").query("month", month.as_ref())).await?;
            if output.is_json() {
                return output.json(&statements);
            }
            let items = statements["items"].as_array().context("the reply holds no items")?;
            output.items(
                items,
                &[
                    ("TEAM", "/team/slug"),
                    ("GUARANTEED", "/guaranteed_cost"),
                    ("BORROWED", "/borrowed_cost"),
                    ("LENT", "/lent_credit"),
                    ("IDLE", "/idle_cost"),
                    ("CORRECTIONS", "/corrections"),
                    ("TOTAL", "/total"),
                ],
            )?;
            let text = |name: &str| statements[name].as_str().unwrap_or("-").to_owned();
            println!(
                "{} {}: {} {} in all; digest {}",
                text("month"),
                text("state"),
                text("total"),
                text("currency"),
                text("digest")
            );
            Ok(())
        }
        StatementCommand::Show { month, team } => {
            let found = client.send(Call::get(format!("/statements/{month}/{team}"))).await?;
            output.json(&found)
        }
        StatementCommand::Months => {
            let items = client.all(Call::get("/months"), 1_000).await?;
            let columns = [
                ("MONTH", "/month"),
                ("STATE", "/state"),
                ("TOTAL", "/total"),
                ("CURRENCY", "/currency"),
                ("PROPOSED BY", "/proposed_by/username"),
                ("CLOSED BY", "/closed_by/username"),
            ];
            output.items(&items, &columns)
        }
        StatementCommand::Close { month, digest } => {
            let path = format!("/statements/{month}/close");
            output.json(&client.send(Call::post(path, json!({"digest": digest}))).await?)
        }
        StatementCommand::Reopen { month } => {
            output.json(&client.send(Call::post(format!("/statements/{month}/reopen"), json!({}))).await?)
        }
        StatementCommand::Correct { month, team, amount, reason } => {
            let body = json!({"team": team, "amount": amount, "reason": reason});
            output.json(&client.send(Call::post(format!("/statements/{month}/corrections"), body)).await?)
        }
    }
}
