//! Two servers on one database, one of them stopped in the middle of its work and woken later.

use crate::cluster::{Cluster, job};
use nix::sys::signal::Signal;
use std::time::Duration;

const NODES: u32 = 4;
const JOBS: usize = 80;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_never_double_book() {
    let cluster = Cluster::start(2, NODES).await;
    let other = cluster.admin.at(&cluster.servers[1].url);
    for number in 0..JOBS {
        let body = job(["a", "b", "c"][number % 3], &format!("job-{number}"), [1, 2, 8][number % 3], 20);
        let api = if number % 2 == 0 { &cluster.admin } else { &other };
        api.post_surely("/jobs", &format!("key-{number}"), &body).await;
        if number == JOBS / 2 {
            cluster.servers[1].process.signal(Signal::SIGSTOP);
            tokio::time::sleep(Duration::from_secs(3)).await;
            cluster.servers[1].process.signal(Signal::SIGCONT);
        }
    }
    cluster.all_succeed(JOBS).await;
    assert_eq!(cluster.violations(), "");
}
