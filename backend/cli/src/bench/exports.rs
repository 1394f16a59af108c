//! Section L: a month of the ledger as a file, asked for as an operation like anybody does, with the server's memory beside it.

use super::report::{Report, Target};
use super::site::Site;
use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A tenth of the lines and all of them, as days of January.
const TENTH: &str = "2026-01-04";
const WHOLE: &str = "2026-02-01";
/// The longest that is waited for a file.
const MADE_WITHIN: Duration = Duration::from_secs(600);

/// # Errors
/// When an export fails, or says nothing of how far it is.
pub(super) async fn measure(report: &mut Report, entries: i64) -> anyhow::Result<()> {
    let site = Site::start().await?;
    site.script(include_str!("fill_ledger.sql"), &[("entries", entries)]).await?;
    for format in ["csv", "jsonl", "xlsx"] {
        export(report, &site, format, TENTH).await?;
        export(report, &site, format, WHOLE).await?;
    }
    site.stop().await;
    Ok(())
}

async fn export(report: &mut Report, site: &Site, format: &str, to: &str) -> anyhow::Result<()> {
    site.forget_peak_memory()?;
    let begun = Instant::now();
    let body = json!({"kind": "usage_export", "format": format, "content": "intervals", "from": "2026-01-01", "to": to});
    let asked = site.post("/operations", &body).await?;
    let path = format!("/operations/{}", asked["id"].as_str().context("no id")?);
    let (made, seen) = finished(site, &path).await?;
    let wall = begun.elapsed().as_secs_f64();
    let peak = site.peak_memory_mib().unwrap_or(f64::NAN);
    let number = |field: &Value| field.as_f64().unwrap_or(f64::NAN);
    let case = format!("{format}, {} lines", made["done_rows"]);
    let target = if to == WHOLE { Target::Below(30.0) } else { Target::None };
    report.add(&case, "wall_seconds", wall, target);
    report.add(&case, "server_peak_mib", peak, Target::None);
    report.add(&case, "file_mib", number(&made["result"]["bytes"]) / 1_048_576.0, Target::None);
    #[expect(clippy::cast_precision_loss, reason = "a figure")]
    report.add(&case, "progress_seen_times", seen as f64, Target::None);
    Ok(())
}

/// The finished operation, and how many different figures of progress were seen.
async fn finished(site: &Site, path: &str) -> anyhow::Result<(Value, usize)> {
    let (deadline, mut seen) = (Instant::now() + MADE_WITHIN, BTreeSet::new());
    while Instant::now() < deadline {
        let now = site.get(path).await?;
        match now["state"].as_str() {
            Some("succeeded") => return Ok((now, seen.len())),
            Some("queued" | "running") => {
                seen.extend(now["done_rows"].as_i64());
            }
            _ => bail!("the export failed: {now}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("the export was not done in {MADE_WITHIN:?}")
}
