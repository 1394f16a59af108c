//! `reeve logs`: the bytes that the job wrote, as they are. With `-f` until the log is complete.

use crate::client::{Call, Client, ClientError};
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

/// A stretch of a log.
pub(crate) struct Chunk {
    pub(crate) bytes: bytes::Bytes,
    /// Where to go on.
    pub(crate) next: Option<u64>,
    /// Nothing comes after it.
    pub(crate) complete: bool,
}

pub(crate) async fn run(args: LogsArgs, client: &Client) -> anyhow::Result<()> {
    let job = args.job.to_string();
    let mut from = Err(args.tail_bytes);
    loop {
        let Chunk { bytes, next, complete } = chunk(client, &job, args.run, args.member, from).await?;
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(&bytes)?;
        stdout.flush()?;
        drop(stdout);
        if !args.follow || complete {
            return Ok(());
        }
        from = next.map_or(from, Ok);
        if bytes.is_empty() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}

/// What a member wrote `from` an offset on, or (`Err`) so many bytes of its end.
pub(crate) async fn chunk(
    client: &Client,
    job: &str,
    run: Option<u32>,
    member: u32,
    from: Result<u64, u64>,
) -> Result<Chunk, ClientError> {
    let call = Call::get(format!("/jobs/{job}/logs")).query("run", run).query("member", Some(member));
    let call = match from {
        Ok(offset) => call.query("offset", Some(offset)),
        Err(tail_bytes) => call.query("tail_bytes", Some(tail_bytes)),
    };
    let (headers, bytes) = client.send_raw(call).await?;
    let complete = headers.get("reeve-log-complete").is_some_and(|value| value == "true");
    Ok(Chunk { bytes, next: next(&headers), complete })
}

fn next(headers: &HeaderMap) -> Option<u64> {
    headers.get("reeve-log-next")?.to_str().ok()?.parse().ok()
}
