//! `kill -9` of the server, of PostgreSQL and of the agents in the middle of work.

use crate::cluster::{Cluster, job};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

const NODES: u32 = 4;
const JOBS: usize = 90;

/// Submits with a key each, and survives what is done to the server meanwhile.
async fn submit(cluster: &Cluster, from: usize, to: usize) -> BTreeMap<String, Value> {
    let mut submitted = BTreeMap::new();
    for number in from..to {
        let team = ["a", "b", "c"][number % 3];
        let gpus = [1, 2, 4, 8][number % 4];
        let body = job(team, &format!("job-{number}"), gpus, 20);
        let reply = cluster.admin.post_surely("/jobs", &format!("key-{number}"), &body).await;
        submitted.insert(format!("key-{number}"), reply["id"].clone());
    }
    submitted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_run_twice_when_everything_is_killed() {
    let mut cluster = Cluster::start(1, NODES).await;

    let mut ids = submit(&cluster, 0, 30).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    cluster.servers[0].crash_and_restart();
    ids.extend(submit(&cluster, 30, 60).await);

    cluster.crash_and_restart_agents(NODES);
    cluster.postgres.crash_and_restart().expect("PostgreSQL recovers");
    ids.extend(submit(&cluster, 60, JOBS).await);
    cluster.servers[0].crash_and_restart();
    cluster.servers[0].ready().await;

    // The same keys again: the same jobs, not new ones.
    for (key, id) in &ids {
        let number: usize = key.trim_start_matches("key-").parse().expect("a number");
        let body = job(["a", "b", "c"][number % 3], &format!("job-{number}"), [1, 2, 4, 8][number % 4], 20);
        let reply = cluster.admin.post_surely("/jobs", key, &body).await;
        assert_eq!(&reply["id"], id, "{key} made a second job");
    }

    cluster.all_succeed(JOBS).await;
    for id in cluster.jobs().await.keys() {
        let runs = cluster.admin.get(&format!("/jobs/{id}/runs")).await;
        let succeeded =
            runs["items"].as_array().expect("runs").iter().filter(|run| run["state"] == "succeeded").count();
        assert_eq!(succeeded, 1, "job {id}: {runs}");
    }
    assert_eq!(cluster.violations(), "");
}
