//! `reeve audit verify`: an export without any server, or the database itself.

use crate::config::Settings;
use crate::output::Output;
use anyhow::{Context, bail};
use clap::Args;
use reeve_store::audit::chain::Verdict;
use reeve_store::audit::checkpoint::Checkpoint;
use reeve_store::audit::key::PublicKey;
use reeve_store::audit::live::Trust;
use reeve_store::audit::{live, verify_file};
use reeve_store::{ConnectOptions, Store};
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// An export as JSON Lines; `-` = standard input
    #[arg(required_unless_present = "live", conflicts_with = "live")]
    file: Option<PathBuf>,
    /// Verify the log in the database (--database-url)
    #[arg(long)]
    live: bool,
    /// A file with public keys that you trust: base64 at the beginning of each line. Keys that one of them vouches for count
    /// as well
    #[arg(long, value_name = "FILE")]
    public_keys: Option<PathBuf>,
    /// A file with checkpoints that were kept elsewhere, as `reeve audit checkpoints` writes them: they find a log whose tail
    /// was cut, or that was made anew
    #[arg(long, value_name = "FILE")]
    checkpoints: Option<PathBuf>,
}

pub(super) async fn run(settings: &Settings, args: VerifyArgs, output: Output) -> anyhow::Result<ExitCode> {
    let trust = trust(&args)?;
    let verdict = match &args.file {
        Some(file) if file == Path::new("-") => verify_file::verify(stdin().lock(), &trust)?,
        Some(file) => {
            let opened = File::open(file).with_context(|| format!("opening {}", file.display()))?;
            verify_file::verify(BufReader::with_capacity(1 << 20, opened), &trust)?
        }
        None => {
            let store = Store::connect(&ConnectOptions::new(settings.database_url()?)).await?;
            let verdict = live::verify(&store, &trust).await;
            store.close().await;
            verdict?
        }
    };
    say(&verdict, output)?;
    Ok(if verdict.fault.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn trust(args: &VerifyArgs) -> anyhow::Result<Trust> {
    let mut trust = Trust::default();
    if let Some(path) = &args.public_keys {
        for line in lines(path)? {
            let text = line.split_whitespace().next().unwrap_or_default().to_owned();
            let key = PublicKey::parse(&text);
            trust.keys.push(key.with_context(|| format!("{}: {text:?} is no public key", path.display()))?);
        }
        if trust.keys.is_empty() {
            bail!("{}: no public key in it", path.display());
        }
    }
    if let Some(path) = &args.checkpoints {
        for line in lines(path)? {
            let checkpoint: Checkpoint = serde_json::from_str(&line)
                .with_context(|| format!("{}: a line is no checkpoint", path.display()))?;
            trust.checkpoints.push(checkpoint);
        }
    }
    Ok(trust)
}

fn lines(path: &Path) -> anyhow::Result<Vec<String>> {
    let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let lines: Result<Vec<String>, _> = BufReader::new(file).lines().collect();
    Ok(lines?.into_iter().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).collect())
}

fn say(verdict: &Verdict, output: Output) -> anyhow::Result<()> {
    let fault = verdict.fault.as_ref();
    if output.is_json() {
        return output.json(&json!({
            "whole": fault.is_none(), "events": verdict.events, "position": verdict.chain.position,
            "hash": verdict.chain.hex(), "checkpoints": verdict.checkpoints, "notes": verdict.notes,
            "fault": fault.map(|fault| json!({"line": fault.line, "position": fault.position, "why": fault.why})),
        }));
    }
    match fault {
        Some(fault) => println!("BROKEN at {fault}\n{} events before it fit", verdict.events),
        None => println!(
            "whole: {} events, up to position {} with hash {}; {} checkpoints fit",
            verdict.events,
            verdict.chain.position,
            verdict.chain.hex(),
            verdict.checkpoints
        ),
    }
    verdict.notes.iter().for_each(|note| println!("note: {note}"));
    Ok(())
}
