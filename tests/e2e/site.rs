//! One node of eight simulated GPUs that runs real processes, and two teams.

use reeve_store::private_postgres::{Durability, PrivatePostgres};
use reeve_tests::processes::{ADMIN_PASSWORD, Api, Process, Server, binary, eventually};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

pub(crate) const GRACE_SECS: i64 = 15;

pub(crate) struct Site {
    // Dropped in this order: agent, server, database, folder.
    pub(crate) agent: Process,
    pub(crate) server: Server,
    _postgres: PrivatePostgres,
    pub(crate) admin: Api,
    pub(crate) folder: TempDir,
}

impl Site {
    /// One node of eight GPUs, teams `a` and `b` with four guaranteed each.
    pub(crate) async fn start() -> Self {
        Self::start_with([("a", 4), ("b", 4)]).await
    }

    /// The same with other guarantees.
    pub(crate) async fn start_with(guarantees: [(&str, u32); 2]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        // As root, PostgreSQL runs under another user, which must be able to enter.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("permissions");
        let postgres = PrivatePostgres::start(&folder.path().join("postgres"), Durability::Throwaway)
            .expect("PostgreSQL");
        let server = Server::start(&postgres.url(), folder.path());
        server.ready().await;
        let admin = Api::sign_in(&server.url, "admin", ADMIN_PASSWORD).await;
        admin.post("/pools", json!({"slug": "p", "name": "Pool", "gpu_model": "A100-80G"})).await;
        for (team, guaranteed_gpus) in guarantees {
            admin.post("/teams", json!({"slug": team, "name": team.to_uppercase()})).await;
            admin
                .post("/queues", json!({"slug": format!("{team}-main"), "name": "Main", "team": team}))
                .await;
            admin.create_quota(team, "p", json!({"guaranteed_gpus": guaranteed_gpus})).await;
        }
        let policy = admin.get("/policy").await;
        let mut document = policy["document"].clone();
        for rules in document["kinds"].as_object_mut().expect("kinds").values_mut() {
            rules["min_runtime_secs"] = json!(0);
            rules["grace_secs"] = json!(GRACE_SECS);
        }
        admin.put_policy(&policy, document).await;
        let join = admin.post("/join-tokens", json!({"pool": "p"})).await;
        let token = folder.path().join("join-token");
        std::fs::write(&token, join["token"].as_str().expect("a token")).expect("written");
        let agent = Process::start(
            agent_command(&server.url, "n1", &folder.path().join("agent"), &token),
            &folder.path().join("agent.log"),
        );
        let site = Self { agent, server, _postgres: postgres, admin, folder };
        eventually("the node is ready", async || {
            site.admin.get("/nodes").await["items"][0]["state"] == "ready"
        })
        .await;
        site
    }

    pub(crate) async fn job(&self, id: &str) -> Value {
        self.admin.get(&format!("/jobs/{id}")).await
    }

    pub(crate) async fn in_state(&self, ids: &[String], state: &str) -> Vec<String> {
        let mut found = Vec::new();
        for id in ids {
            if self.job(id).await["state"] == state {
                found.push(id.clone());
            }
        }
        found
    }

    pub(crate) async fn log(&self, id: &str, run: u64) -> String {
        let reply = self.admin.get(&format!("/jobs/{id}/logs?run={run}&tail_bytes=4096")).await;
        reply.as_str().unwrap_or_default().to_owned()
    }

    /// The GPUs that a job's newest run holds or held.
    pub(crate) async fn gpus(&self, id: &str) -> Vec<u64> {
        let runs = self.admin.get(&format!("/jobs/{id}/runs")).await;
        let runs = runs["items"].as_array().expect("runs");
        let newest = runs.iter().max_by_key(|run| run["number"].as_u64()).expect("a run");
        let indices = newest["members"][0]["gpu_indices"].as_array().expect("indices");
        indices.iter().filter_map(Value::as_u64).collect()
    }
}

/// An agent with eight simulated GPUs, whose jobs are real processes.
pub(crate) fn agent_command(server: &str, node: &str, state: &Path, join_token: &Path) -> Command {
    let mut agent = Command::new(binary("reeve-agent"));
    agent.args(["run", "--server", server, "--node", node, "--gpus", "simulated:8xA100-80G"]);
    agent.args([
        "--cpu",
        "64",
        "--memory-mib",
        "262144",
        "--sample-secs",
        "1",
        "--stop-jobs-on-exit",
        "--state-dir",
    ]);
    agent.arg(state).arg("--join-token-file").arg(join_token);
    agent
}
