//! Section F: the service as its users meet it, durable, with everything on this machine.

use super::ceiling::Form;
use super::report::{Report, Target, percentile};
use super::site::Site;
use super::{ceiling, requests, stream};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const CONSOLES: usize = 500;
const STARTS: usize = 60;

pub(super) async fn measure(report: &mut Report, jobs: usize, time: Duration) -> anyhow::Result<()> {
    let mut site = Site::start().await?;
    prepare(&site).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    report.add(
        "idle",
        "server_memory_mib",
        site.server_memory_mib().unwrap_or(f64::NAN),
        Target::Below(100.0),
    );

    site.start_agent("bench").await?;
    submit_to_running(report, &site).await?;
    throughput(report, &site, time).await?;
    site.settle().await?;
    let fan_out = stream::fan_out(&site, CONSOLES).await?;
    report.add(format!("sse_{CONSOLES}"), "event_ms_p50", percentile(&fan_out, 50), Target::None);
    report.add(format!("sse_{CONSOLES}"), "event_ms_p99", percentile(&fan_out, 99), Target::None);
    large_tables(report, &site, jobs).await?;
    site.stop().await;
    Ok(())
}

async fn prepare(site: &Site) -> anyhow::Result<()> {
    site.post("/pools", &json!({"slug": "bench", "name": "Bench"})).await?;
    site.post("/teams", &json!({"slug": "bench", "name": "Bench"})).await?;
    site.put_quota("bench", "bench", &json!({"guaranteed_gpus": 8})).await?;
    site.post("/queues", &json!({"slug": "bench-live", "name": "Live", "team": "bench"})).await?;
    site.post("/queues", &json!({"slug": "bench-held", "name": "Held", "team": "bench", "state": "held"}))
        .await?;
    Ok(())
}

/// One job at a time on an idle pool, from the request to the agent's report that its process runs.
async fn submit_to_running(report: &mut Report, site: &Site) -> anyhow::Result<()> {
    let mut times = Vec::with_capacity(STARTS);
    for number in 0..STARTS {
        let body = json!({
            "name": format!("start-{number}"), "team": "bench", "queue": "bench-live", "kind": "batch", "gpus": 1,
            "command": ["sleep", "600"],
        });
        let start = Instant::now();
        let job = site.post("/jobs", &body).await?;
        let path = format!("/jobs/{}", job["id"].as_str().unwrap_or_default());
        loop {
            let state = site.get(&path).await?["state"].clone();
            if state == "running" {
                break;
            }
            anyhow::ensure!(start.elapsed() < Duration::from_secs(20), "a job did not start: {state}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        times.push(start.elapsed().as_secs_f64() * 1000.0);
        site.post(&format!("{path}/cancel"), &json!({})).await?;
        wait_until_gone(site, &path).await?;
    }
    report.add("submit_to_running", "ms_p50", percentile(&times, 50), Target::Below(100.0));
    report.add("submit_to_running", "ms_p99", percentile(&times, 99), Target::None);
    Ok(())
}

async fn wait_until_gone(site: &Site, path: &str) -> anyhow::Result<()> {
    let start = Instant::now();
    while site.get(path).await?["finished_at"] == Value::Null {
        anyhow::ensure!(start.elapsed() < Duration::from_secs(60), "a job did not end");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// PostgreSQL's own and ours, one after the other for each number of clients. The target is a share of what it does with the
/// same rows in one transaction; what it does when the rows are one statement, which is what ours sends, stands beside it.
async fn throughput(report: &mut Report, site: &Site, time: Duration) -> anyhow::Result<()> {
    for clients in [1, 8, 32] {
        site.settle().await?;
        let ceiling = ceiling::transactions(site, Form::Transaction, clients, time).await?;
        site.settle().await?;
        let statement = ceiling::transactions(site, Form::Statement, clients, time).await?;
        site.settle().await?;
        let ours = requests::submissions(site, clients, 1, time).await?;
        let workload = format!("single_{clients}_clients");
        report.add(workload.clone(), "postgres_ceiling_per_s", ceiling, Target::None);
        report.add(workload.clone(), "postgres_one_statement_per_s", statement, Target::None);
        report.add(workload, "submissions_per_s", ours, Target::AtLeast(0.7 * ceiling));
    }
    for clients in [1, 8] {
        site.settle().await?;
        let ours = requests::submissions(site, clients, 100, time).await?;
        report.add(format!("batch_100_{clients}_clients"), "submissions_per_s", ours, Target::None);
    }
    Ok(())
}

/// Lists and explanations when many jobs wait.
async fn large_tables(report: &mut Report, site: &Site, jobs: usize) -> anyhow::Result<()> {
    let mut have = site.get("/jobs?limit=1&count=true").await?["counts"]["queued"].as_u64().unwrap_or(0);
    while have < jobs as u64 {
        let batch: Vec<Value> =
            (0..1000).map(|index| requests::job(&format!("fill-{have}-{index}"))).collect();
        site.post("/jobs/batch", &json!({ "jobs": batch })).await?;
        have += 1000;
    }
    // The planner has said something of each before its explanation is asked for.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let page = site.get("/jobs?limit=50").await?;
    let lists = vec![
        "/jobs?limit=50".to_owned(),
        "/jobs?limit=50&state=queued".to_owned(),
        format!("/jobs?limit=50&cursor={}", page["next_cursor"].as_str().unwrap_or_default()),
    ];
    let times = requests::latencies(site, &lists, 200).await?;
    report.add(format!("list_{jobs}_jobs"), "ms_p99", percentile(&times, 99), Target::Below(50.0));
    let explains: Vec<String> = page["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|job| Some(format!("/jobs/{}/explain", job["id"].as_str()?)))
        .collect();
    let times = requests::latencies(site, &explains, 200).await?;
    report.add(format!("explain_{jobs}_jobs"), "ms_p99", percentile(&times, 99), Target::Below(50.0));
    Ok(())
}
