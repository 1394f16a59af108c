//! A small installation made of real processes: private PostgreSQL, servers, one process of simulated nodes.

use reeve_store::private_postgres::{Durability, PrivatePostgres};
use reeve_tests::processes::{ADMIN_PASSWORD, Api, Process, Server, binary, eventually};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Simulated seconds go this many times faster.
pub(crate) const TIME_SCALE: u32 = 20;

pub(crate) struct Cluster {
    // Dropped in this order: agents, servers, database, folder.
    pub(crate) agents: Process,
    pub(crate) servers: Vec<Server>,
    pub(crate) postgres: PrivatePostgres,
    pub(crate) admin: Api,
    folder: TempDir,
}

impl Cluster {
    /// `servers` servers, `nodes` nodes of eight simulated GPUs, teams a, b and c with a quarter of the pool
    /// guaranteed each.
    pub(crate) async fn start(servers: usize, nodes: u32) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        // As root, PostgreSQL runs under another user, which must be able to enter.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("permissions");
        let postgres = PrivatePostgres::start(&folder.path().join("postgres"), Durability::Throwaway)
            .expect("PostgreSQL");
        let mut started = vec![Server::start(&postgres.url(), folder.path())];
        // The first one migrates; the others find the work done.
        started[0].ready().await;
        for _ in 1..servers {
            let server = Server::start(&postgres.url(), folder.path());
            server.ready().await;
            started.push(server);
        }
        let admin = Api::sign_in(&started[0].url, "admin", ADMIN_PASSWORD).await.with_long_token().await;
        admin.post("/pools", json!({"slug": "p", "name": "Pool", "gpu_model": null})).await;
        for team in ["a", "b", "c"] {
            admin.post("/teams", json!({"slug": team, "name": team})).await;
            admin.create_quota(team, "p", json!({"guaranteed_gpus": nodes * 2})).await;
            admin.post("/queues", json!({"slug": team, "name": team, "team": team})).await;
        }
        relax_rules(&admin, &started[0].url).await;
        let join = admin.post("/join-tokens", json!({"pool": "p", "max_uses": nodes})).await;
        std::fs::write(folder.path().join("join-token"), join["token"].as_str().expect("a token"))
            .expect("written");
        let agents = start_agents(&started[0].url, folder.path(), nodes);
        eventually("all nodes have joined", async || {
            let nodes_seen = admin.get("/nodes?limit=200").await;
            nodes_seen["items"].as_array().is_some_and(|items| items.len() == nodes as usize)
        })
        .await;
        Self { agents, servers: started, postgres, admin, folder }
    }

    /// `kill -9` of the process that is all nodes, and the same nodes again.
    pub(crate) fn crash_and_restart_agents(&mut self, nodes: u32) {
        self.agents.kill9();
        self.agents = start_agents(&self.servers[0].url, self.folder.path(), nodes);
    }

    /// What `check_database` finds; empty = sound.
    pub(crate) fn violations(&self) -> String {
        violations(&self.postgres)
    }

    /// All jobs, by id.
    pub(crate) async fn jobs(&self) -> BTreeMap<String, Value> {
        let mut jobs = BTreeMap::new();
        let mut cursor = String::new();
        loop {
            let page = self.admin.get(&format!("/jobs?limit=200{cursor}")).await;
            for job in page["items"].as_array().expect("items") {
                jobs.insert(job["id"].as_str().expect("an id").to_owned(), job.clone());
            }
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return jobs,
            }
        }
    }

    /// Waits until no job is left in a live state, while `disturb` goes on.
    pub(crate) async fn all_succeed(&self, count: usize) {
        eventually("every job has ended", async || {
            let jobs = self.jobs().await;
            jobs.len() == count && jobs.values().all(|job| job["finished_at"].is_string())
        })
        .await;
        for job in self.jobs().await.values() {
            assert_eq!(job["state"], "succeeded", "{job}");
        }
    }
}

/// What `check_database` finds; empty = sound.
pub(crate) fn violations(postgres: &PrivatePostgres) -> String {
    let output = Command::new(binary("reeve"))
        .arg("check")
        .env("REEVE_DATABASE_URL", postgres.url())
        .output()
        .expect("reeve check runs");
    if output.status.success() { String::new() } else { String::from_utf8_lossy(&output.stdout).into_owned() }
}

/// A job of `team` that takes `secs` simulated seconds.
pub(crate) fn job(team: &str, name: &str, gpus: u32, secs: u32) -> Value {
    json!({
        "name": name, "team": team, "kind": "batch", "gpus": gpus, "checkpoint": "on_signal",
        "command": ["true"], "env": {"REEVE_SIM_DURATION_SECS": secs.to_string()},
    })
}

/// Graces and protections of seconds, so that reclaim happens within the test.
async fn relax_rules(admin: &Api, _url: &str) {
    let policy = admin.get("/policy").await;
    let mut document = policy["document"].clone();
    for rules in document["kinds"].as_object_mut().expect("kinds").values_mut() {
        rules["min_runtime_secs"] = json!(0);
        rules["grace_secs"] = json!(5);
    }
    admin.put_policy(&policy, document).await;
}

fn start_agents(url: &str, folder: &Path, nodes: u32) -> Process {
    let state: PathBuf = folder.join("agents");
    let mut command = Command::new(binary("reeve-agent"));
    command
        .args(["simulate", "--server", url, "--gpus", "8xA100-80G", "--prefix", "n"])
        .args(["--nodes", &nodes.to_string(), "--time-scale", &TIME_SCALE.to_string()])
        .arg("--state-dir")
        .arg(&state)
        .arg("--join-token-file")
        .arg(folder.join("join-token"));
    Process::start(command, &folder.join("agents.log"))
}
