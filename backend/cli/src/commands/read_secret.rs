//! A secret from standard input: arguments can be read by every user of the machine.

use anyhow::{Context, ensure};
use std::io::Read;

/// What is longer is no secret.
const MOST_BYTES: u64 = 64 * 1024;

pub(crate) fn read_secret() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().take(MOST_BYTES).read_to_string(&mut text).context("standard input")?;
    let secret = text.trim().to_owned();
    ensure!(!secret.is_empty(), "standard input is empty");
    Ok(secret)
}
