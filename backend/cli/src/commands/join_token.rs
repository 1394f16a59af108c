//! `reeve join-token create`. The token is shown once.

use crate::client::{Call, Client};
use crate::output::Output;
use anyhow::Context;
use clap::Subcommand;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum JoinTokenCommand {
    /// Make a token with which nodes join a pool
    Create {
        #[arg(long)]
        pool: String,
        /// How many nodes may join with it
        #[arg(long, default_value_t = 1)]
        max_uses: u32,
        #[arg(long, default_value_t = 3600, value_name = "SECS")]
        expires_in_secs: u64,
        /// Print nothing but the token
        #[arg(long)]
        quiet: bool,
    },
}

pub(crate) async fn run(command: JoinTokenCommand, client: &Client, output: Output) -> anyhow::Result<()> {
    let JoinTokenCommand::Create { pool, max_uses, expires_in_secs, quiet } = command;
    let body = json!({"pool": pool, "max_uses": max_uses, "expires_in_secs": expires_in_secs});
    let made = client.send(Call::post("/join-tokens", body)).await?;
    if output.is_json() {
        return output.json(&made);
    }
    let token = made["token"].as_str().context("the reply holds no token")?;
    if quiet {
        println!("{token}");
        return Ok(());
    }
    println!("{token}\n\nOn each node, with the token in a file:");
    println!(
        "  reeve-agent run --server {} --state-dir /var/lib/reeve-agent --join-token-file FILE",
        client.server()
    );
    Ok(())
}
