//! A job script: a program's text whose first comment lines say what the job asks for, as `#REEVE` with the flags of
//! `reeve submit`, or as `#SBATCH`. As with Slurm, they count up to the first line that is no comment.

use super::body::{lay_over, said};
use super::interpreter::interpreter;
use super::options::JobOptions;
use super::sbatch;
use anyhow::{Context, bail};
use clap::Parser;
use serde_json::{Map, Value};
use std::path::Path;

#[derive(Debug)]
pub(super) struct Script {
    pub(super) name: String,
    /// What its lines ask for: `#REEVE` over `#SBATCH`.
    pub(super) asks: Map<String, Value>,
    interpreter: Vec<String>,
    text: String,
}

/// A `#REEVE` line.
#[derive(Debug, Parser)]
#[command(name = "#REEVE", no_binary_name = true, disable_help_flag = true)]
struct OwnLine {
    #[command(flatten)]
    options: JobOptions,
}

impl Script {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| shown.clone())?;
        let name = path.file_name().map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
        let interpreter =
            interpreter(text.lines().next().unwrap_or_default()).with_context(|| shown.clone())?;
        let (mut slurms, mut own) = (Map::new(), Map::new());
        let head = text.lines().enumerate().take_while(|(_, line)| line.is_empty() || line.starts_with('#'));
        for (at, line) in head {
            let place = || format!("{shown}, line {}", at + 1);
            if let Some(rest) = after(line, "#SBATCH") {
                let (asks, notes) = sbatch::read(&words(rest).with_context(place)?).with_context(place)?;
                notes.iter().for_each(|note| eprintln!("{}: {note}", place()));
                lay_over(&mut slurms, asks)?;
            } else if let Some(rest) = after(line, "#REEVE") {
                lay_over(&mut own, own_line(&words(rest).with_context(place)?).with_context(place)?)?;
            }
        }
        lay_over(&mut slurms, own)?;
        Ok(Self { name, asks: slurms, interpreter, text })
    }

    /// The words that run it with these arguments.
    pub(super) fn command(&self, arguments: &[String]) -> Vec<String> {
        let itself = [self.text.clone(), self.name.clone()];
        // Python's first argument is its own; a shell's is the script's name.
        let is_python = self.interpreter.iter().any(|word| word.contains("python"));
        let itself = itself.into_iter().take(if is_python { 1 } else { 2 });
        self.interpreter.iter().cloned().chain(itself).chain(arguments.iter().cloned()).collect()
    }
}

/// What follows the mark; a longer word is another comment.
fn after<'l>(line: &'l str, mark: &str) -> Option<&'l str> {
    line.strip_prefix(mark).filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

fn words(text: &str) -> anyhow::Result<Vec<String>> {
    shlex::split(text).context("a quote is open")
}

fn own_line(words: &[String]) -> anyhow::Result<Map<String, Value>> {
    let line = OwnLine::try_parse_from(words).map_err(|error| first_line(&error))?;
    if line.options.file.is_some() {
        bail!("--file has no place in a script: its lines say what a file would");
    }
    Ok(said(&line.options))
}

/// A parser's message without its usage.
pub(super) fn first_line(error: &clap::Error) -> anyhow::Error {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    anyhow::anyhow!("{}", line.strip_prefix("error: ").unwrap_or(line))
}
