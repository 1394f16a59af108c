//! `reeve operations`: long work. It asks for a file, waits, and fetches it. It refuses to hold the file in memory.

use crate::client::{Call, Client};
use crate::output::Output;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

const ASK_EVERY: Duration = Duration::from_millis(500);

#[derive(Debug, Subcommand)]
pub(crate) enum OperationsCommand {
    /// Ask for an export, wait for it, and write it to a file
    Export(ExportArgs),
    /// Your operations
    List,
    /// One operation
    Show { id: String },
    /// Stop one
    Cancel { id: String },
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// csv, jsonl, xlsx, or focus (CSV with the columns of FOCUS 1.2)
    #[arg(long, default_value = "csv")]
    format: String,
    /// intervals (the ledger's lines) or statement (a month's)
    #[arg(long)]
    content: Option<String>,
    /// As 2026-11
    #[arg(long, conflicts_with_all = ["from", "to"])]
    month: Option<String>,
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    #[arg(long, value_name = "DAY")]
    to: Option<String>,
    #[arg(long)]
    team: Option<String>,
    /// CSV for a spreadsheet that knows UTF-8 by its mark
    #[arg(long)]
    bom: bool,
    /// Where it goes (default: the file's own name, here)
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) async fn run(command: OperationsCommand, client: &Client, output: Output) -> anyhow::Result<()> {
    match command {
        OperationsCommand::Export(args) => export(args, client, output).await,
        OperationsCommand::List => {
            let items = client.all(Call::get("/operations"), 1_000).await?;
            let columns = [
                ("ID", "/id"),
                ("STATE", "/state"),
                ("PERCENT", "/percent"),
                ("FILE", "/result/file_name"),
                ("BY", "/created_by/username"),
                ("ASKED", "/created_at"),
            ];
            output.items(&items, &columns)
        }
        OperationsCommand::Show { id } => {
            output.json(&client.send(Call::get(format!("/operations/{id}"))).await?)
        }
        OperationsCommand::Cancel { id } => {
            output.json(&client.send(Call::post(format!("/operations/{id}/cancel"), json!({}))).await?)
        }
    }
}

async fn export(args: ExportArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let body = json!({"kind": "usage_export", "format": args.format, "content": args.content, "month": args.month,
        "from": args.from, "to": args.to, "team": args.team, "bom": args.bom});
    let asked = client.send(Call::post("/operations", body)).await?;
    let id = asked["id"].as_str().context("the reply holds no id")?.to_owned();
    let done = wait(client, &id).await?;
    let name = done["result"]["file_name"].as_str().context("the operation has no result")?;
    let path = args.out.unwrap_or_else(|| PathBuf::from(name));
    let mut response = client.stream(Call::get(format!("/operations/{id}/result"))).await?;
    let mut file = std::fs::File::create(&path).with_context(|| path.display().to_string())?;
    while let Some(chunk) = response.chunk().await? {
        file.write_all(&chunk)?;
    }
    if output.is_json() {
        return output.json(&done);
    }
    println!("{}: {} rows", path.display(), done["done_rows"]);
    Ok(())
}

async fn wait(client: &Client, id: &str) -> anyhow::Result<Value> {
    loop {
        let operation = client.send(Call::get(format!("/operations/{id}"))).await?;
        match operation["state"].as_str() {
            Some("succeeded") => return Ok(operation),
            Some("failed") => bail!("the export failed: {}", operation["error"].as_str().unwrap_or("-")),
            Some("cancelled") => bail!("the export was cancelled"),
            _ => tokio::time::sleep(ASK_EVERY).await,
        }
    }
}
