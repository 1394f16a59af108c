//! What there is to say. It refuses to change the log: nothing can.

use super::export::ExportArgs;
use super::list::{ListArgs, PageArgs, ShowArgs};
use super::verify::VerifyArgs;
use super::{export, list, rotate_key, verify};
use crate::client::Client;
use crate::config::Settings;
use crate::output::Output;
use clap::Subcommand;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// List events, newest first
    List(ListArgs),
    /// Show the event at a position
    Show(ShowArgs),
    /// Write the log to standard output: JSON Lines that `verify` takes, or CSV
    Export(ExportArgs),
    /// Prove an export, or with --live the database, and name the first position that is wrong
    Verify(VerifyArgs),
    /// List signed checkpoints as JSON Lines: keep them elsewhere
    Checkpoints(PageArgs),
    /// Show how far the log is sealed, signed and verified
    Status,
    /// List the public keys that checkpoints were signed with
    Keys,
    /// Replace the server's signing key by a new one that the old one vouches for
    RotateKey,
}

pub(crate) async fn run(
    settings: &Settings,
    command: AuditCommand,
    output: Output,
) -> anyhow::Result<ExitCode> {
    match command {
        AuditCommand::Verify(args) => return verify::run(settings, args, output).await,
        AuditCommand::RotateKey => rotate_key::run(settings, output)?,
        AuditCommand::List(args) => list::events(args, &Client::signed_in(settings)?, output).await?,
        AuditCommand::Show(args) => list::show(args, &Client::signed_in(settings)?, output).await?,
        AuditCommand::Export(args) => export::run(args, &Client::signed_in(settings)?).await?,
        AuditCommand::Checkpoints(args) => list::checkpoints(args, &Client::signed_in(settings)?).await?,
        AuditCommand::Status => list::status(&Client::signed_in(settings)?, output).await?,
        AuditCommand::Keys => list::keys(&Client::signed_in(settings)?, output).await?,
    }
    Ok(ExitCode::SUCCESS)
}
