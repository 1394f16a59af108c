//! `reeve pool create`.

use crate::client::{Call, Client};
use crate::output::Output;
use clap::Subcommand;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum PoolCommand {
    /// Make a pool: nodes of one GPU model that are interchangeable for quota
    Create {
        slug: String,
        #[arg(long)]
        name: Option<String>,
        #[arg(long)]
        gpu_model: Option<String>,
    },
}

pub(crate) async fn run(command: PoolCommand, client: &Client, output: Output) -> anyhow::Result<()> {
    let PoolCommand::Create { slug, name, gpu_model } = command;
    let body = json!({"slug": slug, "name": name.as_ref().unwrap_or(&slug), "gpu_model": gpu_model});
    let pool = client.send(Call::post("/pools", body)).await?;
    output.items(&[pool], &[("POOL", "/slug"), ("NAME", "/name"), ("MODEL", "/gpu_model"), ("ID", "/id")])
}
