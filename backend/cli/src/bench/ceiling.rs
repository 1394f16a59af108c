//! What the same PostgreSQL can do at most: pgbench inserting the same rows, in one transaction each.

use super::site::Site;
use anyhow::Context as _;
use std::path::PathBuf;
use std::time::Duration;
use tokio::process::Command;

/// Transactions a second with `clients` connections.
pub(super) async fn transactions(site: &Site, clients: usize, time: Duration) -> anyhow::Result<f64> {
    let script = site.folder().join("ceiling.sql");
    // pgbench ends a statement at its semicolon; comments are its own business.
    std::fs::write(&script, include_str!("ceiling.sql"))?;
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

/// It comes with the server's own programs.
fn pgbench(site: &Site) -> anyhow::Result<PathBuf> {
    let path = site.postgres.programs().join("pgbench");
    anyhow::ensure!(path.exists(), "pgbench is missing beside the PostgreSQL server: {}", path.display());
    Ok(path)
}
