//! The installation that section F measures: a durable private PostgreSQL, `reeve serve` and `reeve-agent` as their own
//! processes, all on loopback, all gone at the end.

use anyhow::Context as _;
use reeve_store::private_postgres::{Durability, PrivatePostgres};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::process::{Child, Command};

const PASSWORD: &str = "bench-only-password";

pub(super) struct Site {
    // Dropped in this order; children are killed when dropped.
    agent: Option<Child>,
    server: Child,
    pub(super) postgres: PrivatePostgres,
    folder: TempDir,
    pub(super) url: String,
    pub(super) http: reqwest::Client,
    pub(super) token: String,
}

/// Simulated nodes, all alike.
pub(super) struct Fleet {
    pub(super) nodes: usize,
    pub(super) gpus: u64,
}

impl Site {
    pub(super) async fn start() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        // As root, PostgreSQL runs under another user, which must be able to enter.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))?;
        let postgres = PrivatePostgres::start(&folder.path().join("postgres"), Durability::Durable)?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = std::fs::File::create(folder.path().join("server.log"))?;
        let server = Command::new(std::env::current_exe()?)
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .env("REEVE_DATABASE_URL", postgres.url())
            .env("REEVE_ADMIN_PASSWORD", PASSWORD)
            .env("REEVE_AUDIT_KEY_FILE", folder.path().join("audit.key"))
            // The limits of one caller are not what is measured.
            .env("REEVE_RATE_LIMIT_PER_SECOND", "1000000")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn()?;
        let http = reqwest::Client::builder().timeout(Duration::from_secs(30)).build()?;
        let mut site = Self {
            agent: None,
            server,
            postgres,
            folder,
            url: format!("http://127.0.0.1:{port}"),
            http,
            token: String::new(),
        };
        site.wait_until_ready().await?;
        site.sign_in().await?;
        Ok(site)
    }

    async fn wait_until_ready(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline {
            let reply = self.http.get(format!("{}/readyz", self.url)).send().await;
            if reply.is_ok_and(|reply| reply.status().is_success()) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        anyhow::bail!("the server did not become ready:\n{}", self.log("server.log"))
    }

    /// An API token, since it takes no refresh.
    async fn sign_in(&mut self) -> anyhow::Result<()> {
        let session = self
            .http
            .post(format!("{}/api/v1/auth/sign-in", self.url))
            .json(&json!({"username": "admin", "password": PASSWORD}))
            .send()
            .await?
            .json::<Value>()
            .await?;
        session["access_token"].as_str().context("the sign-in was refused")?.clone_into(&mut self.token);
        let token =
            self.post("/tokens", &json!({"name": "bench", "scopes": ["read", "write", "admin"]})).await?;
        token["token"].as_str().context("no token")?.clone_into(&mut self.token);
        Ok(())
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let reply = self
            .http
            .post(format!("{}/api/v1{path}", self.url))
            .bearer_auth(&self.token)
            .json(body)
            .send()
            .await?;
        let status = reply.status();
        let text = reply.text().await?;
        anyhow::ensure!(status.is_success(), "POST {path}: {status} {text}");
        Ok(serde_json::from_str(&text)?)
    }

    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let reply =
            self.http.get(format!("{}/api/v1{path}", self.url)).bearer_auth(&self.token).send().await?;
        let status = reply.status();
        let text = reply.text().await?;
        anyhow::ensure!(status.is_success(), "GET {path}: {status} {text}");
        Ok(serde_json::from_str(&text)?)
    }

    /// Starts a real agent with simulated GPUs and real processes.
    pub(super) async fn start_agent(&mut self, pool: &str) -> anyhow::Result<()> {
        let join = self.post("/join-tokens", &json!({"pool": pool})).await?;
        let token = self.folder.path().join("join-token");
        std::fs::write(&token, join["token"].as_str().context("no join token")?)?;
        let log = std::fs::File::create(self.folder.path().join("agent.log"))?;
        let agent = Command::new(sibling("reeve-agent")?)
            .args(["run", "--server", &self.url, "--node", "bench", "--gpus", "simulated:8xA100-80G"])
            .arg("--state-dir")
            .arg(self.folder.path().join("agent"))
            .arg("--join-token-file")
            .arg(&token)
            .arg("--stop-jobs-on-exit")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn()?;
        self.agent = Some(agent);
        let deadline = Instant::now() + Duration::from_secs(30);
        while Instant::now() < deadline {
            if self.get("/nodes").await?["items"].as_array().is_some_and(|nodes| !nodes.is_empty()) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        anyhow::bail!("the agent did not join")
    }

    /// Starts one process of simulated nodes, and waits until all have joined.
    pub(super) async fn start_fleet(&mut self, pool: &str, fleet: &Fleet) -> anyhow::Result<()> {
        let join = self.post("/join-tokens", &json!({"pool": pool, "max_uses": fleet.nodes})).await?;
        let token = self.folder.path().join("join-token");
        std::fs::write(&token, join["token"].as_str().context("no join token")?)?;
        let log = std::fs::File::create(self.folder.path().join("agent.log"))?;
        let agent = Command::new(sibling("reeve-agent")?)
            .args(["simulate", "--server", &self.url, "--nodes", &fleet.nodes.to_string(), "--prefix", "n"])
            .args([
                "--gpus",
                &format!("{}xA100-80G", fleet.gpus),
                "--cpu",
                "4096",
                "--memory-mib",
                "16777216",
            ])
            .arg("--state-dir")
            .arg(self.folder.path().join("agents"))
            .arg("--join-token-file")
            .arg(&token)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn()?;
        self.agent = Some(agent);
        let deadline = Instant::now() + Duration::from_secs(120);
        while Instant::now() < deadline {
            if self.count_nodes().await? == fleet.nodes {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        anyhow::bail!("not all {} nodes joined:\n{}", fleet.nodes, self.log("agent.log"))
    }

    async fn count_nodes(&self) -> anyhow::Result<usize> {
        let (mut nodes, mut cursor) = (0, String::new());
        loop {
            let page = self.get(&format!("/nodes?limit=200{cursor}")).await?;
            nodes += page["items"].as_array().map_or(0, Vec::len);
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return Ok(nodes),
            }
        }
    }

    /// What the database's own check finds.
    pub(super) async fn violations(&self) -> anyhow::Result<usize> {
        let output = Command::new(std::env::current_exe()?)
            .arg("check")
            .env("REEVE_DATABASE_URL", self.postgres.url())
            .output()
            .await?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(0);
        }
        anyhow::ensure!(!text.trim().is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        println!("{text}");
        Ok(text.lines().count())
    }

    pub(super) async fn metrics(&self) -> anyhow::Result<String> {
        Ok(self.http.get(format!("{}/metrics", self.url)).send().await?.error_for_status()?.text().await?)
    }

    /// Sets a quota that does not exist yet.
    pub(super) async fn put_quota(&self, team: &str, pool: &str, quota: &Value) -> anyhow::Result<()> {
        self.put(&format!("/quotas/{team}/{pool}"), ("If-None-Match", "*"), quota).await
    }

    /// Replaces the policy of `version`.
    pub(super) async fn put_policy(&self, version: &Value, document: &Value) -> anyhow::Result<()> {
        self.put("/policy", ("If-Match", &format!("\"{version}\"")), document).await
    }

    async fn put(&self, path: &str, condition: (&str, &str), body: &Value) -> anyhow::Result<()> {
        let request = self.http.put(format!("{}/api/v1{path}", self.url)).bearer_auth(&self.token);
        let reply = request.header(condition.0, condition.1).json(body).send().await?;
        let status = reply.status();
        anyhow::ensure!(status.is_success(), "PUT {path}: {status} {}", reply.text().await?);
        Ok(())
    }

    fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Resident memory of the server, in MiB.
    pub(super) fn server_memory_mib(&self) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.id()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok().map(|kib| kib / 1024.0)
    }

    /// The most that the server held since [`Site::forget_peak_memory`], in MiB.
    pub(super) fn peak_memory_mib(&self) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.id()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok().map(|kib| kib / 1024.0)
    }

    pub(super) fn forget_peak_memory(&self) -> anyhow::Result<()> {
        let pid = self.server.id().context("the server has ended")?;
        Ok(std::fs::write(format!("/proc/{pid}/clear_refs"), "5")?)
    }

    /// Runs a script in the database, with numbers in place of its variables.
    pub(super) async fn script(&self, script: &str, variables: &[(&str, i64)]) -> anyhow::Result<()> {
        let file = self.folder.path().join("script.sql");
        std::fs::write(&file, script)?;
        let mut psql = Command::new(self.postgres.programs().join("psql"));
        psql.args(["--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--output=/dev/null"])
            .arg("--file")
            .arg(&file);
        for (name, value) in variables {
            psql.arg(format!("--set={name}={value}"));
        }
        let output = psql.arg(self.postgres.url()).stdin(Stdio::null()).output().await?;
        anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Until the server has done what was left to do for the rows that are there: explained the jobs, sealed the events.
    pub(super) async fn settle(&self) -> anyhow::Result<()> {
        // Whatever came behind the server's back, it looks now, or after the longest rest of a tick.
        self.post("/jobs", &super::requests::job("settle")).await?;
        let (mut sealed, mut since) = (self.sealed().await?, Instant::now());
        let deadline = Instant::now() + Duration::from_secs(60);
        while since.elapsed() < Duration::from_millis(2_500) {
            anyhow::ensure!(Instant::now() < deadline, "the server does not come to rest");
            tokio::time::sleep(Duration::from_millis(100)).await;
            let now = self.sealed().await?;
            if now != sealed {
                (sealed, since) = (now, Instant::now());
            }
        }
        Ok(())
    }

    /// Events sealed so far, as the server tells it.
    async fn sealed(&self) -> anyhow::Result<String> {
        let text = self.http.get(format!("{}/metrics", self.url)).send().await?.text().await?;
        let line = text.lines().find(|line| line.starts_with("reeve_events_sealed_total"));
        Ok(line.unwrap_or_default().to_owned())
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Asks everything to stop, agent first, and waits.
    pub(super) async fn stop(mut self) {
        for child in [self.agent.as_mut(), Some(&mut self.server)].into_iter().flatten() {
            if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) {
                let _ = nix::sys::signal::kill(
                    nix::unistd::Pid::from_raw(pid),
                    nix::sys::signal::Signal::SIGTERM,
                );
            }
            let _ = tokio::time::timeout(Duration::from_secs(15), child.wait()).await;
        }
    }
}

fn sibling(name: &str) -> anyhow::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    anyhow::ensure!(
        path.exists(),
        "{} is missing: build it with `cargo build --release --bins`",
        path.display()
    );
    Ok(path)
}
