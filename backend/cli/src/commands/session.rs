//! `reeve sessions`: where somebody is signed in.

use crate::client::{Call, Client};
use crate::output::Output;
use clap::Subcommand;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List where you are signed in
    List {
        /// Somebody else's, for administrators
        #[arg(long)]
        user: Option<String>,
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// End a session
    Revoke { id: String },
}

pub(crate) async fn run(command: SessionCommand, client: &Client, output: Output) -> anyhow::Result<()> {
    match command {
        SessionCommand::List { user, limit } => {
            let items = client.all(Call::get("/sessions").query("user", user), limit).await?;
            let columns = [
                ("SESSION", "/id"),
                ("BY", "/method"),
                ("FROM", "/address"),
                ("SINCE", "/created_at"),
                ("LAST USED", "/last_used_at"),
                ("PROGRAM", "/user_agent"),
            ];
            output.items(&items, &columns)
        }
        SessionCommand::Revoke { id } => {
            client.send(Call::delete(format!("/sessions/{id}"))).await?;
            output.done(&json!({"revoked": id}), "revoked")
        }
    }
}
