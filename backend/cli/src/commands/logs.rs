//! `reeve logs`: the bytes that the job wrote, as they are. With `-f` until the log is complete.

use crate::client::{Call, Client};
use clap::Args;
use reqwest::header::HeaderMap;
use std::io::Write;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The job's id
    job: uuid::Uuid,
    /// Which attempt (default: the latest)
    #[arg(long)]
    run: Option<u32>,
    /// Which member of a gang
    #[arg(long, default_value_t = 0)]
    member: u32,
    /// How much of the end to begin with
    #[arg(long, default_value_t = 65536, value_name = "BYTES")]
    tail_bytes: u64,
    /// Go on as the job writes
    #[arg(short, long)]
    follow: bool,
}

pub(crate) async fn run(args: LogsArgs, client: &Client) -> anyhow::Result<()> {
    let path = format!("/jobs/{}/logs", args.job);
    let mut offset: Option<u64> = None;
    loop {
        let call = Call::get(&path).query("run", args.run).query("member", Some(args.member));
        let call = match offset {
            Some(offset) => call.query("offset", Some(offset)),
            None => call.query("tail_bytes", Some(args.tail_bytes)),
        };
        let (headers, body) = client.send_raw(call).await?;
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(&body)?;
        stdout.flush()?;
        drop(stdout);
        let complete = headers.get("reeve-log-complete").is_some_and(|value| value == "true");
        if !args.follow || (complete && body.is_empty()) {
            return Ok(());
        }
        offset = next(&headers).or(offset);
        if body.is_empty() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}

fn next(headers: &HeaderMap) -> Option<u64> {
    headers.get("reeve-log-next")?.to_str().ok()?.parse().ok()
}
