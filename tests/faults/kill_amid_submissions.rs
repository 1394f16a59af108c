//! `kill -9` of the server and of PostgreSQL while many submit at once: what was acknowledged is there, and once.

use crate::cluster::{Cluster, job};
use futures::future::join_all;
use reeve_tests::processes::Api;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const CLIENTS: usize = 32;

/// Submits with a key each until told to stop, each key until it is answered; ids by key.
async fn submit_until(admin: Api, client: usize, stop: Arc<AtomicBool>) -> BTreeMap<String, String> {
    let mut acknowledged = BTreeMap::new();
    while !stop.load(Ordering::Relaxed) {
        let key = format!("{client}-{}", acknowledged.len());
        let mut body = job(["a", "b", "c"][client % 3], &key, 1, 1);
        body["hold"] = true.into();
        let reply = admin.post_surely("/jobs", &key, &body).await;
        assert_eq!(reply["name"], *key, "somebody else's answer");
        acknowledged.insert(key, reply["id"].as_str().expect("an id").to_owned());
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_all_is_killed_amid_submissions() {
    let mut cluster = Cluster::start(1, 1).await;
    let stop = Arc::new(AtomicBool::new(false));
    let clients =
        join_all((0..CLIENTS).map(|client| submit_until(cluster.admin.clone(), client, Arc::clone(&stop))));
    let disturb = async {
        let a_while = Duration::from_millis(400);
        tokio::time::sleep(a_while).await;
        cluster.servers[0].crash_and_restart();
        cluster.servers[0].ready().await;
        tokio::time::sleep(a_while).await;
        cluster.postgres.crash_and_restart().expect("PostgreSQL recovers");
        cluster.servers[0].ready().await;
        tokio::time::sleep(a_while).await;
        stop.store(true, Ordering::Relaxed);
    };
    let (acknowledged, ()) = tokio::join!(clients, disturb);
    let acknowledged: BTreeMap<String, String> = acknowledged.into_iter().flatten().collect();
    assert!(acknowledged.len() > CLIENTS, "too few to say anything: {}", acknowledged.len());

    let jobs = cluster.jobs().await;
    let ids: BTreeSet<&String> = acknowledged.values().collect();
    assert_eq!(ids.len(), acknowledged.len(), "two keys, one job");
    let lost: Vec<_> = acknowledged.iter().filter(|(_, id)| !jobs.contains_key(*id)).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    // Each key was sent until it was answered: there is no job that nobody knows of.
    assert_eq!(jobs.len(), acknowledged.len());
    for (key, id) in &acknowledged {
        assert_eq!(jobs[id]["name"], **key);
    }
    assert_eq!(cluster.violations(), "");
}
