//! `reeve login` and `reeve logout`. They refuse a password as an argument, and keep only an API token.

use crate::client::{Call, Client, ClientError, Credentials};
use crate::config::Settings;
use crate::output::Output;
use anyhow::{Context, ensure};
use clap::Args;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::process::Command;

const TOKEN_SECS: u64 = 30 * 24 * 3600;

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    #[arg(long)]
    username: String,
    /// Read the password from standard input, without asking
    #[arg(long)]
    password_stdin: bool,
}

pub(crate) async fn sign_in(args: LoginArgs, settings: &Settings, output: Output) -> anyhow::Result<()> {
    let client = Client::anonymous(settings.client.server.as_deref())?;
    let password = read_password(args.password_stdin)?;
    let body = json!({"username": args.username, "password": password});
    let session = client.send(Call::post("/auth/sign-in", body)).await?;
    let access = session["access_token"].as_str().context("the reply holds no access token")?;
    let client = client.with_token(access);
    let is_admin =
        session["user"]["platform_roles"].as_array().is_some_and(|roles| roles.contains(&json!("admin")));
    let scopes: &[&str] = if is_admin { &["read", "write", "admin"] } else { &["read", "write"] };
    let body = json!({"name": "reeve login", "scopes": scopes, "expires_in_secs": TOKEN_SECS});
    let made = client.send(Call::post("/tokens", body)).await?;
    let text = |name: &str| -> anyhow::Result<String> {
        Ok(made[name].as_str().with_context(|| format!("the reply holds no {name}"))?.to_owned())
    };
    let kept = Credentials {
        server: client.server().to_owned(),
        username: args.username,
        token_id: text("id")?,
        token: text("token")?,
    };
    kept.write(&settings.client.folder)?;
    // The session has done its work; the token lives on without it.
    let _ = client.send(Call::post("/auth/sign-out", Value::Null)).await;
    if output.is_json() {
        return output.json(&json!({"server": kept.server, "username": kept.username}));
    }
    println!("signed in to {} as {}", kept.server, kept.username);
    Ok(())
}

pub(crate) async fn sign_out(settings: &Settings) -> anyhow::Result<()> {
    let Some(kept) = Credentials::read(&settings.client.folder)? else {
        println!("nobody is signed in");
        return Ok(());
    };
    let client = Client::anonymous(Some(&kept.server))?.with_token(&kept.token);
    match client.send(Call::delete(format!("/tokens/{}", kept.token_id))).await {
        // One that no longer holds needs no revoking.
        Err(ClientError::Refused(problem)) if [401, 404].contains(&problem.status) => {}
        outcome => drop(outcome.context("the token could not be revoked, and is kept")?),
    }
    Credentials::forget(&settings.client.folder)?;
    println!("signed out of {}", kept.server);
    Ok(())
}

fn read_password(from_stdin: bool) -> anyhow::Result<String> {
    let terminal = std::io::stdin().is_terminal();
    ensure!(from_stdin || terminal, "standard input is no terminal: give --password-stdin");
    let hidden = terminal && stty("-echo");
    if terminal {
        eprint!("Password: ");
        std::io::stderr().flush()?;
    }
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    if hidden {
        stty("echo");
        eprintln!();
    }
    read?;
    let password = line.trim_end_matches(['\r', '\n']).to_owned();
    ensure!(!password.is_empty(), "the password is empty");
    Ok(password)
}

fn stty(setting: &str) -> bool {
    Command::new("stty").arg(setting).status().is_ok_and(|status| status.success())
}
