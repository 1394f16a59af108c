//! `reeve notifications`: what you, or a team's members, get mail about.

use crate::client::{Call, Client};
use crate::output::Output;
use anyhow::Context;
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
pub(crate) struct NotificationArgs {
    /// A team's setting for its members instead of your own
    #[arg(long)]
    team: Option<String>,
    /// Set a topic to off, own (what concerns the person) or team (everything in their teams); empty = no word of one's own
    #[arg(long, value_name = "TOPIC=SETTING")]
    set: Vec<String>,
}

pub(crate) async fn run(args: NotificationArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let path = match &args.team {
        Some(team) => format!("/teams/{team}/notifications"),
        None => "/me/notifications".to_owned(),
    };
    let view = if args.set.is_empty() {
        client.send(Call::get(path)).await?
    } else {
        let settings: Vec<Value> = args.set.iter().map(|text| setting(text)).collect::<Result<_, _>>()?;
        client.send(Call::put(path, json!({"settings": settings}))).await?
    };
    if output.is_json() {
        return output.json(&view);
    }
    let topics = view["topics"].as_array().cloned().unwrap_or_default();
    output.items(&topics, &[("TOPIC", "/topic"), ("SETTING", "/setting"), ("SET BY", "/source")])
}

fn setting(text: &str) -> anyhow::Result<Value> {
    let (topic, setting) = text.split_once('=').with_context(|| format!("{text:?}: write topic=setting"))?;
    Ok(json!({"topic": topic, "setting": (!setting.is_empty()).then_some(setting)}))
}
