//! `reeve webhooks`: where events are sent, and what became of it. A robot's secret comes by standard input.

use super::read_secret::read_secret;
use crate::client::{Call, Client};
use crate::output::Output;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

const COLUMNS: [(&str, &str); 7] = [
    ("WEBHOOK", "/id"),
    ("NAME", "/name"),
    ("TEAM", "/team/slug"),
    ("KIND", "/kind"),
    ("URL", "/url"),
    ("STATE", "/state"),
    ("FAILING SINCE", "/failing_since"),
];
const DELIVERIES: [(&str, &str); 7] = [
    ("DELIVERY", "/id"),
    ("EVENT", "/event_type"),
    ("STATE", "/state"),
    ("ATTEMPTS", "/attempts"),
    ("STATUS", "/last_status"),
    ("NEXT", "/next_attempt_at"),
    ("ERROR", "/last_error"),
];

#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCommand {
    /// List webhooks and robots
    List {
        #[arg(long)]
        team: Option<String>,
    },
    /// Add one; a webhook's signing secret is printed once
    Add(Box<AddArgs>),
    /// Send a test message, and say what became of it
    Test {
        id: String,
    },
    /// List what it was and is to be sent
    Deliveries {
        id: String,
        /// Only these states, for example failed,pending
        #[arg(long, value_delimiter = ',')]
        state: Vec<String>,
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Send a message once more
    Resend {
        id: String,
        delivery: String,
    },
    /// Make a new signing secret; the old one signs too for a day
    Rotate {
        id: String,
    },
    Disable {
        id: String,
    },
    Enable {
        id: String,
    },
    Remove {
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    #[arg(long)]
    name: String,
    #[arg(long)]
    url: String,
    /// Events of this team and those below it; all events when left out
    #[arg(long)]
    team: Option<String>,
    /// webhook, feishu, dingtalk, wecom or slack
    #[arg(long, default_value = "webhook")]
    kind: String,
    /// Actions such as job.failed, or beginnings such as job.*; repeat for several
    #[arg(long = "event", value_name = "TYPE")]
    events: Vec<String>,
    #[arg(long, default_value = "en")]
    locale: String,
    /// Read a robot's own signing secret from standard input
    #[arg(long)]
    sign_secret_stdin: bool,
}

pub(crate) async fn run(command: WebhookCommand, client: &Client, output: Output) -> anyhow::Result<()> {
    let edit = async |id: String, state: &str| -> anyhow::Result<()> {
        let call = Call::patch(format!("/webhooks/{id}"), json!({"state": state}));
        output.items(&[client.send(call).await?], &COLUMNS)
    };
    match command {
        WebhookCommand::List { team } => {
            output.items(&client.all(Call::get("/webhooks").query("team", team), 500).await?, &COLUMNS)
        }
        WebhookCommand::Add(args) => add(*args, client, output).await,
        WebhookCommand::Test { id } => {
            let made = client.send(Call::post(format!("/webhooks/{id}/test"), json!({}))).await?;
            output.items(&[settled(client, &id, made).await?], &DELIVERIES)
        }
        WebhookCommand::Deliveries { id, state, limit } => {
            let mut call = Call::get(format!("/webhooks/{id}/deliveries"));
            for state in state {
                call = call.query("state", Some(state));
            }
            output.items(&client.all(call, limit).await?, &DELIVERIES)
        }
        WebhookCommand::Resend { id, delivery } => {
            let path = format!("/webhooks/{id}/deliveries/{delivery}/resend");
            let made = client.send(Call::post(path, json!({}))).await?;
            output.items(&[settled(client, &id, made).await?], &DELIVERIES)
        }
        WebhookCommand::Rotate { id } => {
            let made = client.send(Call::post(format!("/webhooks/{id}/rotate-secret"), json!({}))).await?;
            output.items(&[made], &[("SECRET", "/secret"), ("OLD ONE UNTIL", "/previous_valid_until")])
        }
        WebhookCommand::Disable { id } => edit(id, "disabled").await,
        WebhookCommand::Enable { id } => edit(id, "enabled").await,
        WebhookCommand::Remove { id } => {
            client.send(Call::delete(format!("/webhooks/{id}"))).await?;
            output.done(&json!({"removed": id}), "removed")
        }
    }
}

async fn add(args: AddArgs, client: &Client, output: Output) -> anyhow::Result<()> {
    let secret = if args.sign_secret_stdin { Some(read_secret()?) } else { None };
    let body = json!({
        "name": args.name, "url": args.url, "team": args.team, "kind": args.kind, "event_types": args.events,
        "locale": args.locale, "secret": secret,
    });
    let made = client.send(Call::post("/webhooks", body)).await?;
    output.items(std::slice::from_ref(&made), &COLUMNS)?;
    if !output.is_json()
        && let Some(secret) = made["secret"].as_str()
    {
        println!("\nSecret, shown once: {secret}");
    }
    Ok(())
}

/// The delivery once it was tried, or as it is after some seconds.
async fn settled(client: &Client, id: &str, mut delivery: Value) -> anyhow::Result<Value> {
    let path = format!("/webhooks/{id}/deliveries/{}", delivery["id"].as_str().unwrap_or_default());
    for _ in 0..40 {
        if delivery["attempts"].as_i64().unwrap_or(0) > 0 || delivery["state"] != "pending" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        delivery = client.send(Call::get(path.as_str())).await?;
    }
    Ok(delivery)
}
