//! `reeve admin create`: the first administrator, when the server was started without REEVE_ADMIN_PASSWORD.
//!
//! It refuses once anybody exists: an administrator makes the others.

use crate::config::Settings;
use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use reeve_api::bootstrap::create_first_admin;
use reeve_core::clock::{Clock, SystemClock};
use reeve_store::{ConnectOptions, Store, migrate};
use std::io::BufRead;

#[derive(Debug, Subcommand)]
pub(crate) enum AdminCommand {
    /// Make the first administrator; the password comes from REEVE_ADMIN_PASSWORD or standard input
    Create(CreateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    #[arg(long, default_value = "admin")]
    username: String,
}

pub(crate) async fn run(settings: &Settings, command: AdminCommand) -> anyhow::Result<()> {
    let AdminCommand::Create(args) = command;
    let password = match &settings.server.admin_password {
        Some(password) => password.clone(),
        None => read_password()?,
    };
    let store = Store::connect(&ConnectOptions::new(settings.database_url()?)).await?;
    migrate::migrate(&store).await?;
    let made = create_first_admin(&store, &args.username, &password, SystemClock.now()).await;
    store.close().await;
    ensure!(
        made?,
        "somebody exists already: an administrator makes further users in the console or by the API"
    );
    eprintln!("{} is the administrator", args.username);
    Ok(())
}

fn read_password() -> anyhow::Result<String> {
    eprintln!("Password (at least 10 characters), then Enter:");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("standard input")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
