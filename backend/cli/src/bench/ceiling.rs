//! What the same PostgreSQL can do at most: pgbench inserting the same rows, in one transaction each, as durably as ours;
//! as clients usually do, with a statement for each row, and as the database likes it best, in one statement.
//!
//! It is a ceiling, no equal: pgbench has nothing to parse, to judge or to answer, and its rows are written while the
//! server's loops rest. Before and after it, the server is given the time to do what the rows of the last measurement left
//! to do (their seals, why they wait), so that each works on its own rows only.

use super::site::Site;
use anyhow::Context as _;
use std::path::PathBuf;
use std::time::Duration;
use tokio::process::Command;

/// How pgbench inserts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Begin, three statements, commit.
    Transaction,
    /// One statement, which is a transaction of its own: one round trip.
    Statement,
}

/// Transactions a second with `clients` connections.
pub(super) async fn transactions(
    site: &Site,
    form: Form,
    clients: usize,
    time: Duration,
) -> anyhow::Result<f64> {
    let script = site.folder().join("ceiling.sql");
    // pgbench ends a statement at its semicolon; comments are its own business.
    std::fs::write(&script, form.script())?;
    let output = Command::new(pgbench(site)?)
        .args(["--no-vacuum", "--protocol=prepared", "--jobs=2"])
        .arg(format!("--client={clients}"))
        .arg(format!("--time={}", time.as_secs().max(1)))
        .arg("--file")
        .arg(&script)
        .arg(site.postgres.url())
        .output()
        .await?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find_map(|line| line.strip_prefix("tps = ")?.split_whitespace().next()?.parse().ok())
        .with_context(|| format!("pgbench said no tps:\n{text}\n{}", String::from_utf8_lossy(&output.stderr)))
}

impl Form {
    const fn script(self) -> &'static str {
        match self {
            Self::Transaction => include_str!("ceiling_transaction.sql"),
            Self::Statement => include_str!("ceiling_statement.sql"),
        }
    }
}

/// It comes with the server's own programs.
fn pgbench(site: &Site) -> anyhow::Result<PathBuf> {
    let path = site.postgres.programs().join("pgbench");
    anyhow::ensure!(path.exists(), "pgbench is missing beside the PostgreSQL server: {}", path.display());
    Ok(path)
}
