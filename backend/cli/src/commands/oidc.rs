//! `reeve oidc`: identity providers. A client's secret comes by standard input.

use super::read_secret::read_secret;
use crate::client::{Call, Client};
use crate::output::Output;
use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

const COLUMNS: [(&str, &str); 6] = [
    ("PROVIDER", "/slug"),
    ("NAME", "/name"),
    ("ISSUER", "/issuer"),
    ("CLIENT", "/client_id"),
    ("STATE", "/state"),
    ("REDIRECT URI", "/redirect_uri"),
];

#[derive(Debug, Subcommand)]
pub(crate) enum OidcCommand {
    /// List identity providers
    List,
    /// Add one
    Add(Box<AddArgs>),
    /// Replace what groups give
    Groups {
        provider: String,
        /// group=team:role, or group=platform:role; repeat for several
        #[arg(long = "group", value_name = "GROUP=TEAM:ROLE")]
        groups: Vec<String>,
    },
    /// Ask a provider for its document and keys now
    Check {
        provider: String,
    },
    /// Let nobody sign in with it any more
    Disable {
        provider: String,
    },
    Enable {
        provider: String,
    },
    Remove {
        provider: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    slug: String,
    #[arg(long)]
    name: String,
    #[arg(long, value_name = "URL")]
    issuer: String,
    #[arg(long)]
    client_id: String,
    /// Read the client's secret from standard input
    #[arg(long)]
    client_secret_stdin: bool,
    /// Only people whom an administrator has made may sign in
    #[arg(long)]
    known_users_only: bool,
    /// group=team:role, or group=platform:role; repeat for several
    #[arg(long = "group", value_name = "GROUP=TEAM:ROLE")]
    groups: Vec<String>,
}

pub(crate) async fn run(command: OidcCommand, client: &Client, output: Output) -> anyhow::Result<()> {
    let edit = async |provider: String, body: Value| -> anyhow::Result<()> {
        let call = Call::patch(format!("/oidc-providers/{provider}"), body);
        output.items(&[client.send(call).await?], &COLUMNS)
    };
    match command {
        OidcCommand::List => output.items(&client.all(Call::get("/oidc-providers"), 200).await?, &COLUMNS),
        OidcCommand::Add(args) => {
            let secret = if args.client_secret_stdin { Some(read_secret()?) } else { None };
            let body = json!({
                "slug": args.slug, "name": args.name, "issuer": args.issuer, "client_id": args.client_id,
                "client_secret": secret, "create_users": !args.known_users_only,
                "group_roles": group_roles(&args.groups)?,
            });
            output.items(&[client.send(Call::post("/oidc-providers", body)).await?], &COLUMNS)
        }
        OidcCommand::Groups { provider, groups } => {
            edit(provider, json!({"group_roles": group_roles(&groups)?})).await
        }
        OidcCommand::Check { provider } => {
            let found =
                client.send(Call::post(format!("/oidc-providers/{provider}/check"), json!({}))).await?;
            output.items(
                std::slice::from_ref(&found),
                &[("OK", "/ok"), ("KEYS", "/signing_keys"), ("DETAIL", "/detail")],
            )?;
            ensure!(found["ok"] == true, "the provider cannot be used");
            Ok(())
        }
        OidcCommand::Disable { provider } => edit(provider, json!({"state": "disabled"})).await,
        OidcCommand::Enable { provider } => edit(provider, json!({"state": "enabled"})).await,
        OidcCommand::Remove { provider } => {
            client.send(Call::delete(format!("/oidc-providers/{provider}"))).await?;
            output.done(&json!({"removed": provider}), "removed")
        }
    }
}

/// `vision=team-a:member` and `admins=platform:admin`.
fn group_roles(texts: &[String]) -> anyhow::Result<Vec<Value>> {
    texts
        .iter()
        .map(|text| {
            let wrong = || format!("{text:?}: write group=team:role, or group=platform:role");
            let (group, grant) = text.rsplit_once('=').with_context(wrong)?;
            let (team, role) = grant.split_once(':').with_context(wrong)?;
            Ok(match team {
                "platform" => json!({"group": group, "platform_role": role}),
                team => json!({"group": group, "team": team, "role": role}),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_written_briefly() {
        let read =
            group_roles(&["cn=ml=team-a:lead".to_owned(), "ops=platform:admin".to_owned()]).expect("good");
        assert_eq!(read[0], json!({"group": "cn=ml", "team": "team-a", "role": "lead"}));
        assert_eq!(read[1], json!({"group": "ops", "platform_role": "admin"}));
        assert!(group_roles(&["x".to_owned()]).is_err());
    }
}
