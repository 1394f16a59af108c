//! `reeve postgres run`: a private PostgreSQL for as long as a command runs, or until a signal. It refuses to leave
//! the server behind.

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reeve_store::private_postgres::{Durability, PrivatePostgres};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal as UnixSignal, SignalKind, signal};

#[derive(Debug, Subcommand)]
pub(crate) enum PostgresCommand {
    /// Start PostgreSQL, run COMMAND with REEVE_DATABASE_URL and REEVE_TEST_DATABASE_URL set, stop PostgreSQL, and
    /// end as COMMAND ended
    Run(RunArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Where the database is kept (default with --throwaway: a temporary folder)
    #[arg(long, value_name = "DIR", required_unless_present = "throwaway")]
    data: Option<PathBuf>,
    /// For tests: fast, and lost when the machine loses power
    #[arg(long)]
    throwaway: bool,
    /// What to run; without it, PostgreSQL runs until Ctrl-C
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) async fn run(command: PostgresCommand) -> anyhow::Result<ExitCode> {
    let PostgresCommand::Run(args) = command;
    // Before the start: a signal meanwhile must not end us with a server half started.
    let mut signals = Signals::new()?;
    let postgres = match &args.data {
        Some(folder) => PrivatePostgres::start(folder, durability(args.throwaway))?,
        None => PrivatePostgres::throwaway()?,
    };
    let outcome = match args.command.split_first() {
        Some((program, arguments)) => {
            let child = Command::new(program)
                .args(arguments)
                .env("REEVE_DATABASE_URL", postgres.url())
                .env("REEVE_TEST_DATABASE_URL", postgres.url())
                .spawn()
                .with_context(|| format!("starting {program}"));
            match child {
                Ok(child) => wait(child, &mut signals).await,
                Err(error) => Err(error),
            }
        }
        None => {
            println!("{}", postgres.url());
            signals.next().await;
            Ok(ExitCode::SUCCESS)
        }
    };
    postgres.stop()?;
    outcome
}

const fn durability(throwaway: bool) -> Durability {
    if throwaway { Durability::Throwaway } else { Durability::Durable }
}

/// Waits for the command, and passes on what we are told.
async fn wait(mut child: Child, signals: &mut Signals) -> anyhow::Result<ExitCode> {
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).map(Pid::from_raw);
    loop {
        tokio::select! {
            status = child.wait() => return exit_code(status?),
            told = signals.next() => {
                // It may have ended in this moment.
                let _ = pid.map(|pid| kill(pid, told));
            }
        }
    }
}

/// As a shell says it: 128 + the signal.
fn exit_code(status: ExitStatus) -> anyhow::Result<ExitCode> {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    match code.and_then(|code| u8::try_from(code).ok()) {
        Some(code) => Ok(ExitCode::from(code)),
        None => bail!("the command ended in an unknown way: {status}"),
    }
}

struct Signals {
    int: UnixSignal,
    term: UnixSignal,
    hup: UnixSignal,
}

impl Signals {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            int: signal(SignalKind::interrupt())?,
            term: signal(SignalKind::terminate())?,
            hup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.int.recv() => Signal::SIGINT,
            _ = self.term.recv() => Signal::SIGTERM,
            _ = self.hup.recv() => Signal::SIGHUP,
        }
    }
}
