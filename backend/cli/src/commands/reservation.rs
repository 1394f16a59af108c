//! `reeve reservation list|add|remove`. Times are RFC 3339, with a zone.

use crate::client::{Call, Client};
use crate::output::Output;
use clap::{Args, Subcommand};
use serde_json::json;

const COLUMNS: [(&str, &str); 8] = [
    ("RESERVATION", "/id"),
    ("POOL", "/pool/slug"),
    ("TEAM", "/team/slug"),
    ("GPUS", "/gpus"),
    ("FROM", "/starts_at"),
    ("TO", "/ends_at"),
    ("BY", "/created_by/username"),
    ("NOTE", "/note"),
];

#[derive(Debug, Subcommand)]
pub(crate) enum ReservationCommand {
    /// List reservations that are not over
    List(ListArgs),
    /// Keep GPUs of a pool for a team from one moment to another
    Add {
        #[arg(long)]
        pool: String,
        #[arg(long)]
        team: String,
        #[arg(long)]
        gpus: u32,
        /// When it begins, for example 2026-12-01T02:00:00+08:00
        #[arg(long, value_name = "TIME")]
        from: String,
        #[arg(long, value_name = "TIME")]
        to: String,
        #[arg(long, default_value = "")]
        note: String,
    },
    /// Withdraw a reservation
    Remove { id: String },
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[arg(long)]
    pool: Option<String>,
    #[arg(long)]
    team: Option<String>,
    /// Those that end after this moment; now, when left out
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Those that begin before this moment
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    #[arg(long, default_value_t = 200)]
    limit: usize,
}

pub(crate) async fn run(command: ReservationCommand, client: &Client, output: Output) -> anyhow::Result<()> {
    match command {
        ReservationCommand::List(args) => {
            let call = Call::get("/reservations")
                .query("pool", args.pool)
                .query("team", args.team)
                .query("from", args.from)
                .query("to", args.to);
            output.items(&client.all(call, args.limit).await?, &COLUMNS)
        }
        ReservationCommand::Add { pool, team, gpus, from, to, note } => {
            let body = json!({
                "pool": pool, "team": team, "gpus": gpus, "starts_at": from, "ends_at": to, "note": note,
            });
            output.items(&[client.send(Call::post("/reservations", body)).await?], &COLUMNS)
        }
        ReservationCommand::Remove { id } => {
            client.send(Call::delete(format!("/reservations/{id}"))).await.map(|_| ()).map_err(Into::into)
        }
    }
}
