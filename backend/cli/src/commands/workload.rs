//! `reeve workload`: rules for pipelines, and the exchange itself. The token comes by standard input, and the access token
//! goes to standard output: `REEVE_TOKEN=$(… | reeve workload exchange)`.

use super::read_secret::read_secret;
use crate::client::{Call, Client};
use crate::config::Settings;
use crate::output::Output;
use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

const COLUMNS: [(&str, &str); 8] = [
    ("RULE", "/slug"),
    ("ISSUER", "/issuer"),
    ("AUDIENCE", "/audience"),
    ("TEAM", "/team/slug"),
    ("ROLE", "/role"),
    ("SCOPES", "/scopes"),
    ("STATE", "/state"),
    ("LAST USED", "/last_used_at"),
];

#[derive(Debug, Subcommand)]
pub(crate) enum WorkloadCommand {
    /// List the rules by which pipelines come in
    Rules,
    /// Add a rule
    Add(Box<AddArgs>),
    /// Remove a rule, and end what came in by it
    Remove { rule: String },
    /// Exchange a pipeline's own OIDC token, read from standard input, for an access token
    Exchange,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    slug: String,
    #[arg(long)]
    name: String,
    #[arg(long, value_name = "URL")]
    issuer: String,
    #[arg(long)]
    audience: String,
    #[arg(long)]
    team: String,
    #[arg(long, default_value = "member")]
    role: String,
    #[arg(long = "scope", default_values_t = ["read".to_owned(), "write".to_owned()])]
    scopes: Vec<String>,
    /// A claim that must hold, where * stands for any characters; repeat for several
    #[arg(long = "claim", value_name = "NAME=VALUE", required = true)]
    claims: Vec<String>,
    #[arg(long, default_value_t = 900)]
    lifetime_secs: u32,
}

pub(crate) async fn run(command: WorkloadCommand, client: &Client, output: Output) -> anyhow::Result<()> {
    match command {
        WorkloadCommand::Rules => {
            output.items(&client.all(Call::get("/workload-rules"), 200).await?, &COLUMNS)
        }
        WorkloadCommand::Add(args) => {
            let conditions: Vec<Value> =
                args.claims.iter().map(|text| condition(text)).collect::<Result<_, _>>()?;
            let body = json!({
                "slug": args.slug, "name": args.name, "issuer": args.issuer, "audience": args.audience,
                "team": args.team, "role": args.role, "scopes": args.scopes, "conditions": conditions,
                "token_secs": args.lifetime_secs,
            });
            output.items(&[client.send(Call::post("/workload-rules", body)).await?], &COLUMNS)
        }
        WorkloadCommand::Remove { rule } => {
            client.send(Call::delete(format!("/workload-rules/{rule}"))).await?;
            output.done(&json!({"removed": rule}), "removed")
        }
        // Needs nobody to be signed in.
        WorkloadCommand::Exchange => Ok(()),
    }
}

/// Prints the access token, and nothing else.
pub(crate) async fn exchange(settings: &Settings, output: Output) -> anyhow::Result<()> {
    let client = Client::anonymous(settings.client.server.as_deref())?;
    let reply =
        client.send(Call::post("/auth/workload", json!({"token": read_secret()?})).without_key()).await?;
    if output.is_json() {
        return output.json(&reply);
    }
    println!("{}", reply["access_token"].as_str().context("the reply holds no access token")?);
    Ok(())
}

fn condition(text: &str) -> anyhow::Result<Value> {
    let (claim, value) = text.split_once('=').with_context(|| format!("{text:?}: write name=value"))?;
    let how = if value.contains('*') { "matches" } else { "equals" };
    Ok(json!({"claim": claim, how: value}))
}
