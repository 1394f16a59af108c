//! One server and agents that run real processes, each on a way of its own to the server.

use crate::cluster::violations;
use reeve_store::private_postgres::{Durability, PrivatePostgres};
use reeve_tests::cable::Cable;
use reeve_tests::processes::{ADMIN_PASSWORD, Api, Process, Server, binary, eventually};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Short enough for a test, long enough for a busy machine.
pub(crate) const LEASE_SECS: u64 = 8;

pub(crate) struct Pair {
    // Dropped in this order: server, database, folder; the agents go before, with who holds them.
    pub(crate) server: Server,
    postgres: PrivatePostgres,
    pub(crate) admin: Api,
    pub(crate) folder: TempDir,
}

impl Pair {
    /// A server, a team and a queue; no node yet.
    pub(crate) async fn start() -> Self {
        Self::start_with(LEASE_SECS, 9).await
    }

    pub(crate) async fn start_with(lease_secs: u64, margin_secs: u64) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        // As root, PostgreSQL runs under another user, which must be able to enter.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("permissions");
        let postgres = PrivatePostgres::start(&folder.path().join("postgres"), Durability::Throwaway)
            .expect("PostgreSQL");
        let settings = format!(
            "[agents]\nlease_secs = {lease_secs}\nlease_margin_secs = {margin_secs}\nheartbeat_secs = 1\n"
        );
        let server = Server::start_with(&postgres.url(), folder.path(), &settings);
        server.ready().await;
        let admin = Api::sign_in(&server.url, "admin", ADMIN_PASSWORD).await.with_long_token().await;
        admin.post("/pools", json!({"slug": "p", "name": "Pool", "gpu_model": null})).await;
        admin.post("/teams", json!({"slug": "a", "name": "A"})).await;
        admin.create_quota("a", "p", json!({"guaranteed_gpus": 16})).await;
        admin.post("/queues", json!({"slug": "a", "name": "A", "team": "a"})).await;
        let join = admin.post("/join-tokens", json!({"pool": "p", "max_uses": 2})).await;
        std::fs::write(folder.path().join("join-token"), join["token"].as_str().expect("a token"))
            .expect("written");
        Self { server, postgres, admin, folder }
    }

    /// An agent whose node is ready when this returns.
    pub(crate) async fn agent(&self, node: &str, way: &Cable) -> Process {
        let agent = self.start_agent(node, way);
        self.node_is(node, "ready").await;
        agent
    }

    /// An agent with eight simulated GPUs.
    pub(crate) fn start_agent(&self, node: &str, way: &Cable) -> Process {
        let mut command = Command::new(binary("reeve-agent"));
        command
            .args(["run", "--server", &way.url, "--node", node, "--gpus", "simulated:8xA100-80G"])
            .args(["--cpu", "64", "--memory-mib", "262144", "--sample-secs", "1", "--stop-jobs-on-exit"])
            .arg("--state-dir")
            .arg(self.folder.path().join(node))
            .arg("--join-token-file")
            .arg(self.folder.path().join("join-token"));
        way.start(command, &self.folder.path().join(format!("{node}.log")))
    }

    pub(crate) async fn node_is(&self, node: &str, state: &str) {
        eventually(&format!("{node} is {state}"), async || {
            let nodes = self.admin.get("/nodes").await;
            let mut nodes = nodes["items"].as_array().expect("nodes").iter();
            nodes.any(|seen| seen["name"] == node && seen["state"] == state)
        })
        .await;
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Submits a shell script; `$1` is a path that is the job's own. Answers its id.
    pub(crate) async fn submit(&self, name: &str, script: &str) -> String {
        let path = self.file(name).display().to_string();
        let body = json!({"name": name, "team": "a", "gpus": 1, "command": ["sh", "-c", script, name, path]});
        self.admin.post("/jobs", body).await["id"].as_str().expect("an id").to_owned()
    }

    pub(crate) async fn job(&self, id: &str) -> Value {
        self.admin.get(&format!("/jobs/{id}")).await
    }

    pub(crate) async fn is(&self, id: &str, state: &str) {
        eventually(&format!("{id} is {state}"), async || self.job(id).await["state"] == state).await;
    }

    /// A job's runs by number, from 1.
    pub(crate) async fn runs(&self, id: &str) -> Vec<Value> {
        let runs = self.admin.get(&format!("/jobs/{id}/runs")).await;
        let mut runs = runs["items"].as_array().expect("runs").clone();
        runs.sort_by_key(|run| run["number"].as_u64());
        runs
    }

    /// What `check_database` finds; empty = sound.
    pub(crate) fn violations(&self) -> String {
        violations(&self.postgres)
    }
}
