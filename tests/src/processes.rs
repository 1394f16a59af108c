//! Real processes for end-to-end and fault tests: servers and agents on free loopback ports, each killed and waited
//! for when it goes out of scope, whatever became of the test.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take that a healthy system does in seconds.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The product's binary beside the test's own: `make test` builds it before.
///
/// # Panics
/// When it was not built.
#[must_use]
pub fn binary(name: &str) -> PathBuf {
    let mut folder = std::env::current_exe().expect("a test knows its own path");
    folder.pop();
    if folder.ends_with("deps") {
        folder.pop();
    }
    let path = folder.join(name);
    assert!(path.exists(), "{} is missing: run `cargo build --workspace --bins` first", path.display());
    path
}

/// A port that was free a moment ago.
#[must_use]
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    listener.local_addr().expect("bound").port()
}

/// A child process with its output in a file.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Where it writes.
    pub log: PathBuf,
}

impl Process {
    /// Starts it, standard output and error appended to `log`.
    ///
    /// # Panics
    /// When it can't be started.
    #[must_use]
    pub fn start(mut command: Command, log: &Path) -> Self {
        let file = File::options().create(true).append(true).open(log).expect("a log file");
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone().expect("a second handle"))
            .stderr(file)
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self { child, log: log.to_path_buf() }
    }

    #[must_use]
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid")
    }

    /// Sends a signal; one that can't be sent (it is gone) is ignored.
    pub fn signal(&self, signal: Signal) {
        let _ = kill(Pid::from_raw(self.pid()), signal);
    }

    /// `kill -9`, and waits until it is gone.
    pub fn kill9(&mut self) {
        self.signal(Signal::SIGKILL);
        let _ = self.child.wait();
    }

    /// TERM, then KILL after ten seconds. True when TERM was enough.
    pub fn stop(&mut self) -> bool {
        self.signal(Signal::SIGCONT);
        self.signal(Signal::SIGTERM);
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.kill9();
        false
    }

    /// How it ended; none while it runs.
    pub fn try_wait(&mut self) -> Option<std::process::ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    #[must_use]
    pub fn log_text(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
        if std::thread::panicking() {
            let text = self.log_text();
            let tail: Vec<&str> = text.lines().rev().take(30).collect();
            eprintln!("--- {} (last lines)", self.log.display());
            for line in tail.iter().rev() {
                eprintln!("{line}");
            }
        }
    }
}

/// A server process: `reeve serve`.
#[derive(Debug)]
pub struct Server {
    pub process: Process,
    pub url: String,
    port: u16,
    database_url: String,
    config: Option<PathBuf>,
}

/// The first admin's password in tests.
pub const ADMIN_PASSWORD: &str = "correct-horse-battery";

impl Server {
    /// Starts a server on a free port, without waiting for it.
    #[must_use]
    pub fn start(database_url: &str, folder: &Path) -> Self {
        Self::start_on(database_url, folder, free_port(), None)
    }

    /// The same with a settings file.
    ///
    /// # Panics
    /// When it can't be written.
    #[must_use]
    pub fn start_with(database_url: &str, folder: &Path, settings: &str) -> Self {
        let file = folder.join("reeve.toml");
        std::fs::write(&file, settings).expect("written");
        Self::start_on(database_url, folder, free_port(), Some(file))
    }

    fn start_on(database_url: &str, folder: &Path, port: u16, config: Option<PathBuf>) -> Self {
        let mut command = Command::new(binary("reeve"));
        command
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .env("REEVE_DATABASE_URL", database_url)
            .env("REEVE_ADMIN_PASSWORD", ADMIN_PASSWORD)
            .env("REEVE_AUDIT_KEY_FILE", folder.join("audit.key"))
            .env("RUST_LOG", "info");
        if let Some(config) = &config {
            command.env("REEVE_CONFIG", config);
        }
        let process = Process::start(command, &folder.join(format!("server-{port}.log")));
        let url = format!("http://127.0.0.1:{port}");
        Self { process, url, port, database_url: database_url.to_owned(), config }
    }

    /// `kill -9`, then the same server again on the same port.
    pub fn crash_and_restart(&mut self) {
        self.process.kill9();
        self.start_again();
    }

    /// The same server again on the same port, after it was killed.
    ///
    /// # Panics
    /// When it can't be started.
    pub fn start_again(&mut self) {
        let folder = self.process.log.parent().expect("a folder").to_path_buf();
        *self = Self::start_on(&self.database_url, &folder, self.port, self.config.take());
    }

    /// Waits until it answers `/readyz` with 200.
    ///
    /// # Panics
    /// When it doesn't within [`PATIENCE`].
    pub async fn ready(&self) {
        let client = http_client();
        let url = format!("{}/readyz", self.url);
        eventually("the server is ready", async || {
            client.get(&url).send().await.is_ok_and(|response| response.status().is_success())
        })
        .await;
    }
}

/// An HTTP client with the crypto provider that reqwest asks for.
///
/// # Panics
/// When no client can be built.
#[must_use]
pub fn http_client() -> reqwest::Client {
    // A second installation is refused, and harmless.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    reqwest::Client::builder().timeout(Duration::from_secs(30)).build().expect("a client")
}

/// Asks again and again until it holds.
///
/// # Panics
/// When it doesn't within [`PATIENCE`].
pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds().await {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A signed-in user of the REST API.
#[derive(Debug, Clone)]
pub struct Api {
    client: reqwest::Client,
    url: String,
    token: String,
}

impl Api {
    /// Signs in.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn sign_in(url: &str, username: &str, password: &str) -> Self {
        let client = http_client();
        let reply: Value = client
            .post(format!("{url}/api/v1/auth/sign-in"))
            .json(&json!({"username": username, "password": password}))
            .send()
            .await
            .expect("a reply")
            .json()
            .await
            .expect("JSON");
        let token = reply["access_token"].as_str().unwrap_or_else(|| panic!("refused: {reply}")).to_owned();
        Self { client, url: url.to_owned(), token }
    }

    /// The same user with an API token that outlives restarts and takes no refresh.
    pub async fn with_long_token(&self) -> Self {
        let reply = self.post("/tokens", json!({"name": "test", "scopes": ["read", "write", "admin"]})).await;
        let token = reply["token"].as_str().unwrap_or_else(|| panic!("no token: {reply}")).to_owned();
        Self { token, ..self.clone() }
    }

    /// The same user at another server.
    #[must_use]
    pub fn at(&self, url: &str) -> Self {
        Self { url: url.to_owned(), ..self.clone() }
    }

    /// Sends it; `None` when the server can't be reached or says 503.
    pub async fn try_send(
        &self,
        method: &str,
        path: &str,
        key: Option<&str>,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        let method = method.parse().expect("a method");
        let mut request =
            self.client.request(method, format!("{}/api/v1{path}", self.url)).bearer_auth(&self.token);
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        if status == 503 {
            return None;
        }
        let text = response.text().await.ok()?;
        Some((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }

    /// Sends it again and again, with the same key, until the server answers.
    ///
    /// # Panics
    /// When it doesn't within [`PATIENCE`], or answers with an error.
    pub async fn post_surely(&self, path: &str, key: &str, body: &Value) -> Value {
        let mut answer = None;
        eventually(path, async || {
            answer =
                self.try_send("POST", path, Some(key), Some(body)).await.filter(|(status, _)| *status != 409);
            answer.is_some()
        })
        .await;
        let (status, reply) = answer.expect("answered");
        assert!(status < 300, "POST {path}: {status} {reply}");
        reply
    }

    /// # Panics
    /// When the answer is no success.
    pub async fn post(&self, path: &str, body: Value) -> Value {
        self.expect("POST", path, Some(&body)).await
    }

    /// # Panics
    /// When the answer is no success.
    pub async fn get(&self, path: &str) -> Value {
        self.expect("GET", path, None).await
    }

    /// What a job's run has written so far, at most its last megabyte; empty before the run exists.
    ///
    /// # Panics
    /// When the server does not answer, or refuses.
    pub async fn log(&self, job: &str, run: u64) -> String {
        let path = format!("/jobs/{job}/logs?run={run}&tail_bytes=1000000");
        match self.try_send("GET", &path, None, None).await.expect("the server answers") {
            (200, Value::String(log)) => log,
            // A log that is JSON by chance.
            (200, log) => log.to_string(),
            (404, _) => String::new(),
            (status, reply) => panic!("GET {path}: {status} {reply}"),
        }
    }

    /// Posts on what was read: its version goes along.
    ///
    /// # Panics
    /// When the answer is no success.
    pub async fn post_on(&self, read: &Value, path: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}/api/v1{path}", self.url)).bearer_auth(&self.token);
        let request = request.header("If-Match", format!("\"{}\"", read["version"])).json(&body);
        let response = request.send().await.expect("a reply");
        let status = response.status();
        let text = response.text().await.unwrap_or_default();
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Replaces the policy that was read.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn put_policy(&self, read: &Value, document: Value) {
        let response = self
            .client
            .put(format!("{}/api/v1/policy", self.url))
            .bearer_auth(&self.token)
            .header("If-Match", format!("\"{}\"", read["version"]))
            .json(&document)
            .send()
            .await
            .expect("a reply");
        let status = response.status();
        assert!(status.is_success(), "policy: {status} {}", response.text().await.unwrap_or_default());
    }

    async fn expect(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let (status, reply) = self.try_send(method, path, None, body).await.expect("the server answers");
        assert!(status < 300, "{method} {path}: {status} {reply}");
        reply
    }

    /// Sets a quota that does not exist yet.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn create_quota(&self, team: &str, pool: &str, quota: Value) {
        let response = self
            .client
            .put(format!("{}/api/v1/quotas/{team}/{pool}", self.url))
            .bearer_auth(&self.token)
            .header("If-None-Match", "*")
            .json(&quota)
            .send()
            .await
            .expect("a reply");
        let status = response.status();
        assert!(status.is_success(), "quota {team}: {status} {}", response.text().await.unwrap_or_default());
    }
}
