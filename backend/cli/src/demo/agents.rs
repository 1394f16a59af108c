//! Three nodes: `reeve-agent run` with simulated GPUs and real processes, in the demo's folder.
//!
//! It refuses to start an agent that is not of this build: the one beside this binary.

use super::child::Child;
use super::folder::{Folder, write_private};
use super::seed::POOL;
use crate::client::{Call, Client};
use anyhow::{Context, ensure};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::Command;
use tokio::time::Instant;

pub(super) const NODES: [&str; 3] = ["node-1", "node-2", "node-3"];
const GPUS: &str = "simulated:8xA100-80G";
/// How long nodes may take to be ready.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts them, without waiting.
pub(super) async fn start(folder: &Folder, admin: &Client) -> anyhow::Result<Vec<Child>> {
    let program = std::env::current_exe().context("where this program is")?.with_file_name("reeve-agent");
    ensure!(
        program.exists(),
        "{} is missing: build it with `cargo build --workspace --bins`",
        program.display()
    );
    let mut agents = Vec::with_capacity(NODES.len());
    for node in NODES {
        let state = folder.join(node);
        fs::create_dir_all(&state).with_context(|| state.display().to_string())?;
        await_predecessor(&state).await;
        let token =
            if state.join("identity.json").exists() { None } else { Some(join_token(admin, &state).await?) };
        let mut command = Command::new(&program);
        command.args(["run", "--server", admin.server(), "--node", node, "--gpus", GPUS, "--cpu", "128"]);
        command.args(["--memory-mib", "1048576", "--stop-jobs-on-exit", "--keep-days", "1"]);
        command.arg("--state-dir").arg(&state).arg("--checkpoint-root").arg(folder.join("checkpoints"));
        if let Some(token) = &token {
            command.arg("--join-token-file").arg(token);
        }
        agents.push(Child::start(
            node,
            command,
            &state.display().to_string(),
            &folder.join(&format!("{node}.log")),
        )?);
    }
    Ok(agents)
}

async fn join_token(admin: &Client, state: &Path) -> anyhow::Result<PathBuf> {
    let made = admin.send(Call::post("/join-tokens", json!({"pool": POOL, "expires_in_secs": 3600}))).await?;
    let path = state.join("join-token");
    write_private(&path, made["token"].as_str().context("the reply holds no join token")?)?;
    Ok(path)
}

/// An agent of a demo that was killed is being stopped by its guard: it has the state directory until then.
async fn await_predecessor(state: &Path) {
    let deadline = Instant::now() + PATIENCE / 2;
    while Instant::now() < deadline && is_used(state) {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Whether a process has this state directory on its command line.
fn is_used(state: &Path) -> bool {
    let wanted = state.as_os_str().as_encoded_bytes();
    let Ok(entries) = fs::read_dir("/proc") else { return false };
    entries.filter_map(Result::ok).any(|entry| {
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let mut arguments = arguments.split(|byte| *byte == 0);
        let agent = arguments.next().is_some_and(|program| program.ends_with(b"reeve-agent"));
        agent && arguments.any(|argument| argument == wanted)
    })
}

/// Waits until the server has them all.
pub(super) async fn await_ready(admin: &Client, agents: &mut [Child], folder: &Folder) -> anyhow::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let nodes = admin.all(Call::get("/nodes").query("pool", Some(POOL)), 200).await?;
        let ready = |name: &&str| nodes.iter().any(|node| node["name"] == **name && node["state"] == "ready");
        if NODES.iter().all(ready) {
            return Ok(());
        }
        for agent in agents.iter_mut() {
            let name = agent.name().to_owned();
            if let Ok(how) = tokio::time::timeout(Duration::from_millis(10), agent.ended()).await {
                anyhow::bail!(
                    "the agent of {name} ended ({how}): see {}",
                    folder.join(&format!("{name}.log")).display()
                );
            }
        }
        ensure!(
            Instant::now() < deadline,
            "the nodes are not ready: see node-*.log in {}",
            folder.path().display()
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
