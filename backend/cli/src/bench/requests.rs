//! Load on the REST API: so many clients, each with one request at a time.

use super::site::Site;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A job nobody will start: its queue is held.
pub(super) fn job(name: &str) -> Value {
    json!({"name": name, "team": "bench", "queue": "bench-held", "kind": "batch", "gpus": 1, "command": ["true"]})
}

/// Jobs accepted a second by `clients` clients that send `batch` jobs a request, each with an idempotency key.
pub(super) async fn submissions(
    site: &Site,
    clients: usize,
    batch: usize,
    time: Duration,
) -> anyhow::Result<f64> {
    let accepted = AtomicU64::new(0);
    let start = Instant::now();
    let work = (0..clients).map(|client| {
        let accepted = &accepted;
        async move {
            let mut number = 0_u64;
            while start.elapsed() < time {
                let key = format!("{clients}-{batch}-{client}-{number}-{}", start.elapsed().as_nanos());
                let (path, body) = if batch == 1 {
                    ("/jobs", job(&key))
                } else {
                    let jobs: Vec<Value> = (0..batch).map(|index| job(&format!("{key}-{index}"))).collect();
                    ("/jobs/batch", json!({ "jobs": jobs }))
                };
                let reply = site
                    .http
                    .post(format!("{}/api/v1{path}", site.url))
                    .bearer_auth(&site.token)
                    .header("Idempotency-Key", key)
                    .json(&body)
                    .send()
                    .await?;
                let status = reply.status();
                anyhow::ensure!(status.is_success(), "{path}: {status} {}", reply.text().await?);
                reply.bytes().await?;
                accepted.fetch_add(batch as u64, Ordering::Relaxed);
                number += 1;
            }
            Ok(())
        }
    });
    futures::future::try_join_all(work).await?;
    Ok(accepted.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64())
}

/// Milliseconds of `count` requests, one after the other.
pub(super) async fn latencies(site: &Site, paths: &[String], count: usize) -> anyhow::Result<Vec<f64>> {
    let mut times = Vec::with_capacity(count);
    for path in paths.iter().cycle().take(count) {
        let start = Instant::now();
        site.get(path).await?;
        times.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(times)
}
