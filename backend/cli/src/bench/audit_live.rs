//! Section G, on a server: `reeve audit verify --live` over a million events in the database, beside the server that sealed them.
//!
//! The events are written by one script and sealed and signed by the server's own loops. Making them is not measured.

use super::report::{Report, Target};
use super::site::Site;
use anyhow::Context as _;
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::process::Command;

/// The sealer's longest for a million.
const SEALED_WITHIN: Duration = Duration::from_secs(1_800);
/// What the loops beside it still do for the last events.
const REST: Duration = Duration::from_secs(10);

/// # Errors
/// When the events cannot be made or do not verify.
pub(super) async fn measure(report: &mut Report, events: i64) -> anyhow::Result<()> {
    let site = Site::start().await?;
    site.script(include_str!("fill_events.sql"), &[("events", events)]).await?;
    let sealed = wait_until_sealed(&site, events).await?;
    tokio::time::sleep(REST).await;
    let begun = Instant::now();
    let output = Command::new(std::env::current_exe()?)
        .args(["audit", "verify", "--live"])
        .env("REEVE_DATABASE_URL", site.postgres.url())
        .output()
        .await?;
    let wall = begun.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    anyhow::ensure!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    println!("{}", said.trim_end());
    report.add(format!("{sealed} events, live"), "verify_wall_seconds", wall, Target::Below(10.0));
    site.stop().await;
    Ok(())
}

async fn wait_until_sealed(site: &Site, events: i64) -> anyhow::Result<i64> {
    let deadline = Instant::now() + SEALED_WITHIN;
    loop {
        let status = site.get("/audit/status").await?;
        let sealed = status["last_position"].as_i64().context("no position")?;
        if sealed >= events {
            return Ok(sealed);
        }
        anyhow::ensure!(Instant::now() < deadline, "only {sealed} are sealed: {}", Value::to_string(&status));
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
