//! `reeve maintenance list|add|remove`. Times are RFC 3339, with a zone.

use crate::client::{Call, Client};
use crate::output::Output;
use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

#[derive(Debug, Subcommand)]
pub(crate) enum MaintenanceCommand {
    /// List maintenance windows that are not over
    List(ListArgs),
    /// Keep nodes free of work from one moment to another
    Add(AddArgs),
    /// Withdraw a window; one that is open ends at once
    Remove { id: String },
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[arg(long)]
    pool: Option<String>,
    #[arg(long)]
    node: Option<String>,
    /// Those that end after this moment; now, when left out
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Those that begin before this moment
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    #[arg(long, default_value_t = 200)]
    limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// A node's name or id; repeat or separate by commas for several
    #[arg(long, value_delimiter = ',', required_unless_present = "pool", conflicts_with = "pool")]
    node: Vec<String>,
    /// All nodes that the pool has now
    #[arg(long)]
    pool: Option<String>,
    /// Only those of the pool with this label; repeat for several
    #[arg(long, value_name = "NAME=VALUE", requires = "pool")]
    label: Vec<String>,
    /// When it begins, for example 2026-12-01T02:00:00+08:00
    #[arg(long, value_name = "TIME")]
    from: String,
    #[arg(long, value_name = "TIME")]
    to: String,
    #[arg(long, default_value = "")]
    note: String,
}

pub(crate) async fn run(command: MaintenanceCommand, client: &Client, output: Output) -> anyhow::Result<()> {
    match command {
        MaintenanceCommand::List(args) => {
            let call = Call::get("/maintenance-windows")
                .query("pool", args.pool)
                .query("node", args.node)
                .query("from", args.from)
                .query("to", args.to);
            show(client.all(call, args.limit).await?, output)
        }
        MaintenanceCommand::Add(args) => {
            let made = client.send(Call::post("/maintenance-windows", body(args)?)).await?;
            show(vec![made], output)
        }
        MaintenanceCommand::Remove { id } => client
            .send(Call::delete(format!("/maintenance-windows/{id}")))
            .await
            .map(|_| ())
            .map_err(Into::into),
    }
}

fn body(args: AddArgs) -> anyhow::Result<Value> {
    let mut labels = Map::new();
    for label in args.label {
        let (name, value) = label.split_once('=').with_context(|| format!("{label:?} is no NAME=VALUE"))?;
        labels.insert(name.to_owned(), value.into());
    }
    Ok(json!({
        "nodes": args.node,
        "pool": args.pool,
        "labels": labels,
        "starts_at": args.from,
        "ends_at": args.to,
        "note": args.note,
    }))
}

/// In a table the nodes stand in one cell.
fn show(mut items: Vec<Value>, output: Output) -> anyhow::Result<()> {
    if !output.is_json() {
        for item in &mut items {
            let names =
                item["nodes"].as_array().into_iter().flatten().filter_map(|node| node["name"].as_str());
            item["nodes"] = names.collect::<Vec<_>>().join(",").into();
        }
    }
    let columns = [
        ("WINDOW", "/id"),
        ("FROM", "/starts_at"),
        ("TO", "/ends_at"),
        ("NODES", "/nodes"),
        ("BY", "/created_by/username"),
        ("NOTE", "/note"),
    ];
    output.items(&items, &columns)
}
