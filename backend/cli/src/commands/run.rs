//! `reeve run -- COMMAND`: as if the command ran here. Submits, says why it waits, prints what it writes, and ends as it
//! ended. An interrupt cancels the job.
//!
//! A server that is away for a while is waited for: the job goes on without it. Only a refused submission fails at once.

use super::job::array;
use super::job::body::body;
use super::job::options::JobOptions;
use super::logs::{Chunk, chunk};
use crate::client::{Call, Client, ClientError};
use crate::exit;
use anyhow::Context;
use clap::Args;
use nix::sys::signal::Signal as Posix;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

const PAUSE: Duration = Duration::from_millis(500);
/// How long the server may be away.
const PATIENCE: Duration = Duration::from_secs(600);
/// What a job that was asked to leave twice by Ctrl-C leaves as, as in a shell.
const INTERRUPTED: u8 = 130;

#[derive(Debug, Args)]
#[command(
    after_help = "Ends with the command's own exit code, or 128 and the number of the signal that ended it. Ctrl-C or TERM \
cancels the job and waits for its end; a second one leaves at once. What a member beside the first writes is in `reeve logs`."
)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    options: JobOptions,
    /// Say nothing of what the job waits for
    #[arg(short, long)]
    quiet: bool,
    /// What to run
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) async fn run(args: RunArgs, client: &Client) -> anyhow::Result<ExitCode> {
    // Before there is a job: no interrupt is lost between its making and here.
    let mut interrupts = Interrupts::listen()?;
    let mut body = body(&args.options, None, &args.command)?;
    array::expand(client, &mut body).await?;
    let job = client.send(Call::post("/jobs", body)).await?;
    let id = job["id"].as_str().context("the reply holds no id")?.to_owned();
    let mut watch = Watch { client, id, quiet: args.quiet, said: String::new(), run: 0, offset: 0 };
    watch.say(&format!("job {}", watch.id));
    let mut cancelled = false;
    loop {
        tokio::select! {
            ended = watch.follow() => return ended,
            () = interrupts.next() => {
                if cancelled {
                    return Ok(ExitCode::from(INTERRUPTED));
                }
                cancelled = true;
                eprintln!("reeve: cancelling job {}; once more to leave without waiting for its end", watch.id);
                watch.cancel().await?;
            }
        }
    }
}

struct Interrupts {
    int: Signal,
    term: Signal,
}

impl Interrupts {
    fn listen() -> anyhow::Result<Self> {
        Ok(Self { int: signal(SignalKind::interrupt())?, term: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.int.recv() => {}
            _ = self.term.recv() => {}
        }
    }
}

/// What has been seen and printed of one job. A question that is broken off is asked again: nothing is printed twice.
struct Watch<'c> {
    client: &'c Client,
    id: String,
    quiet: bool,
    /// The last thing said on it.
    said: String,
    run: i64,
    offset: u64,
}

impl Watch<'_> {
    async fn follow(&mut self) -> anyhow::Result<ExitCode> {
        loop {
            let job = self.ask(Call::get(format!("/jobs/{}", self.id))).await?;
            let ended = !job["finished_at"].is_null();
            let run = job["run_number"].as_i64().unwrap_or(0);
            if run != self.run {
                // The rest of the run before comes first.
                self.print_log(true).await?;
                (self.run, self.offset) = (run, 0);
                if run > 1 {
                    self.say(&format!("runs again, as run {run}"));
                }
            }
            if ended {
                self.print_log(true).await?;
                return self.outcome(&job).await;
            }
            self.tell(&job).await?;
            if !self.print_log(false).await? {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Prints what is new of the current run; with `whole`, until no more will come. Whether there was any.
    async fn print_log(&mut self, whole: bool) -> anyhow::Result<bool> {
        let mut printed = false;
        let mut patience = PATIENCE.as_millis() / PAUSE.as_millis();
        while self.run > 0 {
            let run = u32::try_from(self.run).unwrap_or(0);
            let Chunk { bytes, next, complete } = self
                .retrying(async |client, id| chunk(client, id, Some(run), 0, Ok(self.offset)).await)
                .await?;
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(&bytes)?;
            stdout.flush()?;
            drop(stdout);
            self.offset = next.unwrap_or(self.offset);
            printed |= !bytes.is_empty();
            if complete || (bytes.is_empty() && (!whole || patience == 0)) {
                break;
            }
            if bytes.is_empty() {
                // Its agent has not sent the end yet.
                patience -= 1;
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok(printed)
    }

    /// Says the state when it changes, and why it waits when that does.
    async fn tell(&mut self, job: &Value) -> anyhow::Result<()> {
        let state = job["state"].as_str().unwrap_or_default();
        let text = match state {
            "queued" if job["reason"]["code"].is_string() => {
                let said = self.ask(Call::get(format!("/jobs/{}/explain", self.id))).await?;
                let sentence = said["verdict"]["sentence"]["en"].as_str().unwrap_or_default().to_owned();
                format!("waits: {sentence}")
            }
            "leaving" => "is asked to leave; it waits again afterwards unless it was cancelled".to_owned(),
            state => state.to_owned(),
        };
        self.say(&text);
        Ok(())
    }

    fn say(&mut self, text: &str) {
        if self.said != text && !self.quiet {
            eprintln!("reeve: {text}");
        }
        text.clone_into(&mut self.said);
    }

    async fn cancel(&self) -> anyhow::Result<()> {
        let reason = json!({"reason": "interrupted where it was started"});
        match self.client.send(Call::post(format!("/jobs/{}/cancel", self.id), reason)).await {
            // It ended by itself in the meantime.
            Err(ClientError::Refused(problem)) if problem.status == 409 => Ok(()),
            other => Ok(other.map(|_| ())?),
        }
    }

    /// The command's own exit code where it has one.
    async fn outcome(&self, job: &Value) -> anyhow::Result<ExitCode> {
        let state = job["state"].as_str().unwrap_or_default();
        let runs = self.ask(Call::get(format!("/jobs/{}/runs", self.id)).query("limit", Some(1))).await?;
        if state != "succeeded" {
            let detail = ["end_cause", "end_detail"].map(|key| job[key].as_str().unwrap_or_default());
            eprintln!("reeve: job {} {state}: {}", self.id, detail.join(" ").trim());
        }
        Ok(ExitCode::from(code(state, &runs["items"][0])))
    }

    async fn ask(&self, call: Call) -> anyhow::Result<Value> {
        self.retrying(async |client, _| client.send(call.clone()).await).await
    }

    /// Asks until the server answers.
    async fn retrying<T>(
        &self,
        ask: impl AsyncFn(&Client, &str) -> Result<T, ClientError>,
    ) -> anyhow::Result<T> {
        let mut left = PATIENCE;
        loop {
            let away = match ask(self.client, &self.id).await {
                Err(error @ ClientError::Unreachable { .. }) => error,
                Err(ClientError::Refused(problem)) if problem.status >= 500 || problem.status == 429 => {
                    ClientError::Refused(problem)
                }
                other => return Ok(other?),
            };
            if left.is_zero() {
                return Err(away).context(format!("job {} goes on without being watched", self.id));
            }
            if left == PATIENCE {
                eprintln!("reeve: {away}; trying again, the job goes on meanwhile");
            }
            left = left.saturating_sub(PAUSE * 4);
            tokio::time::sleep(PAUSE * 4).await;
        }
    }
}

/// As a shell tells it.
fn code(state: &str, run: &Value) -> u8 {
    let code = run["exit_code"].as_i64().and_then(|code| u8::try_from(code).ok());
    match (state, code) {
        ("succeeded", _) => 0,
        ("cancelled", _) => exit::JOB_CANCELLED,
        (_, Some(code)) if code > 0 => code,
        _ => {
            let name = run["signal"].as_str().unwrap_or_default();
            let name = if name.starts_with("SIG") { name.to_owned() } else { format!("SIG{name}") };
            let number = Posix::from_str(&name).ok().and_then(|signal| u8::try_from(signal as i32).ok());
            number.map_or(exit::JOB_FAILED, |number| 128 + number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_as_the_command_did() {
        assert_eq!(code("succeeded", &json!({"exit_code": 0})), 0);
        assert_eq!(code("failed", &json!({"exit_code": 3})), 3);
        assert_eq!(code("failed", &json!({"exit_code": null, "signal": "KILL"})), 137);
        assert_eq!(code("failed", &json!({"signal": "SIGSEGV"})), 139);
        assert_eq!(code("failed", &Value::Null), exit::JOB_FAILED, "it never started");
        assert_eq!(code("cancelled", &json!({"exit_code": 143})), exit::JOB_CANCELLED);
    }
}
