//! `reeve prices`: the price book, read and set as one document.

use crate::client::{Call, Client};
use crate::output::Output;
use anyhow::Context;
use clap::Subcommand;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum PricesCommand {
    /// Print the price book as YAML that `set` takes
    Get,
    /// Put a price book in force
    Set {
        /// YAML or JSON: currency, and prices with pool, share, priority_class, valid_from, price_per_gpu_hour
        #[arg(long, short, value_name = "FILE")]
        file: PathBuf,
    },
    /// Every price book there was
    Versions,
}

pub(crate) async fn run(command: PricesCommand, client: &Client, output: Output) -> anyhow::Result<()> {
    match command {
        PricesCommand::Get => {
            let book = client.send(Call::get("/prices")).await?;
            if output.is_json() {
                return output.json(&book);
            }
            let document = json!({"currency": book["currency"], "prices": book["prices"]});
            print!("{}", serde_yaml_ng::to_string(&document)?);
            Ok(())
        }
        PricesCommand::Set { file } => {
            let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            let document: Value =
                serde_yaml_ng::from_str(&text).with_context(|| file.display().to_string())?;
            let (headers, _) = client.send_raw(Call::get("/prices")).await?;
            let tag =
                headers.get("etag").and_then(|tag| tag.to_str().ok()).context("the reply has no ETag")?;
            let set = client.send(Call::put("/prices", document).header("if-match", tag)).await?;
            if output.is_json() {
                return output.json(&set);
            }
            println!("version {} is in force", set["version"]);
            Ok(())
        }
        PricesCommand::Versions => {
            let items = client.all(Call::get("/prices/versions"), 1_000).await?;
            let columns = [
                ("VERSION", "/version"),
                ("CURRENCY", "/currency"),
                ("BY", "/created_by/username"),
                ("WHEN", "/created_at"),
            ];
            output.items(&items, &columns)
        }
    }
}
