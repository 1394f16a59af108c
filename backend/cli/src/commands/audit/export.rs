//! `reeve audit export`: passes the stream on as it comes. It refuses to hold the log in memory.

use super::list::Filter;
use crate::client::{Call, Client};
use clap::Args;
use std::io::Write;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// jsonl or csv
    #[arg(long, default_value = "jsonl")]
    format: String,
    /// CSV for a spreadsheet that knows UTF-8 by its mark
    #[arg(long)]
    bom: bool,
    /// Only events after this position
    #[arg(long, value_name = "POSITION")]
    after: Option<i64>,
    #[command(flatten)]
    filter: Filter,
}

pub(super) async fn run(args: ExportArgs, client: &Client) -> anyhow::Result<()> {
    let call = args.filter.add_to(Call::get("/audit/export"));
    let call = call.query("format", Some(args.format)).query("after", args.after);
    let call = call.query("bom", args.bom.then_some(true));
    let mut response = client.stream(call).await?;
    let mut out = std::io::stdout().lock();
    while let Some(chunk) = response.chunk().await? {
        out.write_all(&chunk)?;
    }
    Ok(out.flush()?)
}
