//! Fan-out of live events: how long until every one of many consoles has seen a change.

use super::requests::job;
use super::site::Site;
use futures::StreamExt as _;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Milliseconds from a submission to its event at each of `consoles` streams.
pub(super) async fn fan_out(site: &Site, consoles: usize) -> anyhow::Result<Vec<f64>> {
    // Streams never end by themselves: no time-out on this client.
    let http = reqwest::Client::builder().build()?;
    let (seen, mut arrivals) = mpsc::unbounded_channel::<Instant>();
    let mut readers = tokio::task::JoinSet::new();
    for _ in 0..consoles {
        let reply = http
            .get(format!("{}/api/v1/events?topics=jobs", site.url))
            .bearer_auth(&site.token)
            .header("Accept", "text/event-stream")
            .send()
            .await?;
        anyhow::ensure!(reply.status().is_success(), "events: {}", reply.status());
        let seen = seen.clone();
        readers.spawn(async move {
            let mut stream = reply.bytes_stream();
            while let Some(Ok(chunk)) = stream.next().await {
                if String::from_utf8_lossy(&chunk).contains("job") && seen.send(Instant::now()).is_err() {
                    return;
                }
            }
        });
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    while arrivals.try_recv().is_ok() {}

    let start = Instant::now();
    site.post("/jobs", &job("fan-out")).await?;
    let mut times = Vec::with_capacity(consoles);
    while times.len() < consoles {
        let arrival = tokio::time::timeout(Duration::from_secs(20), arrivals.recv()).await;
        let Ok(Some(at)) = arrival else { break };
        times.push(at.duration_since(start).as_secs_f64() * 1000.0);
    }
    readers.shutdown().await;
    anyhow::ensure!(times.len() == consoles, "only {} of {consoles} streams saw the event", times.len());
    Ok(times)
}
