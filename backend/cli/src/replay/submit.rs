//! Submits what is due, in batches, each with a key made of the replay and the batch: a repeated batch makes no
//! second jobs. It refuses to be ahead of the trace.

use crate::client::{Call, Client};
use anyhow::Context;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use indicatif::ProgressBar;
use reeve_sim::trace::Row;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const BATCH: usize = 200;
const IN_FLIGHT: usize = 4;

/// The label by which a replay's jobs are found again.
pub(crate) const LABEL: &str = "replay";

/// How the trace's jobs become ours.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// Distinguishes this replay's jobs: a label, and part of the keys.
    pub(crate) replay: String,
    pub(crate) speed: f64,
    /// GPUs of a node: a larger job becomes replicas of whole nodes.
    pub(crate) node_gpus: u32,
    pub(crate) pool: Option<String>,
    /// `sleep` on real agents instead of a simulated duration.
    pub(crate) real: bool,
}

/// The job as the REST API takes it.
pub(crate) fn job(row: &Row, shape: &Shape) -> Value {
    let replicas = row.gpus.div_ceil(shape.node_gpus);
    // 12 GPUs on nodes of 8 become 2 × 6: no more is asked for than the trace did, when it divides.
    let gpus = row.gpus.div_ceil(replicas);
    let secs = row.duration_secs.ceil();
    let name = row.name.clone().unwrap_or_else(|| format!("{}-{}", row.team, row.line));
    let mut body = json!({
        "name": name,
        "team": row.team,
        "kind": row.kind.as_deref().unwrap_or("batch"),
        "gpus": gpus,
        "replicas": replicas,
        "checkpoint": "on_signal",
        "labels": {LABEL: shape.replay},
    });
    if let Some(milli) = row.gpu_milli {
        body["gpu_milli"] = json!(milli);
    }
    if let Some(priority) = &row.priority {
        body["priority"] = json!(priority);
    }
    if let Some(pool) = &shape.pool {
        body["pools"] = json!([pool]);
    }
    if shape.real {
        body["command"] = json!(["sleep", format!("{:.3}", row.duration_secs / shape.speed)]);
    } else {
        // The simulated agent divides by its time scale.
        body["command"] = json!(["true"]);
        body["env"] = json!({"REEVE_SIM_DURATION_SECS": format!("{secs:.0}")});
    }
    body
}

/// Submits all, in the trace's time divided by the speed. The ids, in the rows' order.
pub(crate) async fn all(
    client: &Client,
    rows: &[Row],
    shape: &Shape,
    bar: &ProgressBar,
) -> anyhow::Result<Vec<String>> {
    let begin = Instant::now();
    let mut ids: Vec<(usize, Vec<String>)> = Vec::new();
    let mut flying = FuturesUnordered::new();
    let mut next = 0;
    while next < rows.len() {
        tokio::time::sleep_until(begin + due(&rows[next], shape)).await;
        let now = begin.elapsed();
        let due_now = rows[next..].iter().take(BATCH).take_while(|row| due(row, shape) <= now).count().max(1);
        flying.push(batch(client, next, &rows[next..next + due_now], shape));
        next += due_now;
        while flying.len() >= IN_FLIGHT
            && let Some(done) = flying.next().await
        {
            ids.push(counted(done?, bar));
        }
    }
    while let Some(done) = flying.next().await {
        ids.push(counted(done?, bar));
    }
    ids.sort_by_key(|(first, _)| *first);
    Ok(ids.into_iter().flat_map(|(_, ids)| ids).collect())
}

fn counted(done: (usize, Vec<String>), bar: &ProgressBar) -> (usize, Vec<String>) {
    bar.inc(u64::try_from(done.1.len()).unwrap_or(0));
    done
}

fn due(row: &Row, shape: &Shape) -> Duration {
    Duration::from_secs_f64((row.at_secs / shape.speed).clamp(0.0, 1e9))
}

async fn batch(
    client: &Client,
    first: usize,
    rows: &[Row],
    shape: &Shape,
) -> anyhow::Result<(usize, Vec<String>)> {
    let jobs: Vec<Value> = rows.iter().map(|row| job(row, shape)).collect();
    let call = Call::post("/jobs/batch", json!({"jobs": jobs})).key(format!("{}-{first}", shape.replay));
    let lines = || format!("the jobs of lines {:?}", rows.iter().map(|row| row.line).collect::<Vec<_>>());
    let reply = client.send(call).await.with_context(lines)?;
    let items = reply["items"].as_array().context("the reply holds no items")?;
    let ids = items.iter().filter_map(|item| item["id"].as_str().map(str::to_owned)).collect();
    Ok((first, ids))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(gpus: u32) -> Row {
        Row {
            line: 7,
            at_secs: 0.0,
            duration_secs: 90.2,
            team: "a".into(),
            gpus,
            gpu_milli: None,
            name: None,
            kind: None,
            priority: None,
        }
    }

    fn shape(real: bool) -> Shape {
        Shape { replay: "r".into(), speed: 10.0, node_gpus: 8, pool: Some("p".into()), real }
    }

    #[test]
    fn large_jobs_become_replicas_of_whole_nodes() {
        for (asked, replicas, gpus) in [(1, 1, 1), (8, 1, 8), (16, 2, 8), (12, 2, 6), (64, 8, 8)] {
            let body = job(&row(asked), &shape(false));
            assert_eq!((&body["replicas"], &body["gpus"]), (&json!(replicas), &json!(gpus)), "{asked}");
        }
    }

    #[test]
    fn durations_are_the_traces_for_simulated_agents_and_scaled_for_real_ones() {
        assert_eq!(job(&row(1), &shape(false))["env"]["REEVE_SIM_DURATION_SECS"], "91");
        assert_eq!(job(&row(1), &shape(true))["command"], json!(["sleep", "9.020"]));
    }
}
