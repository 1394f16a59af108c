//! The server, as its agents speak to it. One HTTP client for all nodes of the process.
//!
//! It refuses to retry: who calls knows how long to wait, and what must not wait.

use bytes::Bytes;
use reeve_wire::desired::Desired;
use reeve_wire::heartbeat::MAX_POLL_SECS;
use reeve_wire::join::{Join, Joined, Register, Registered};
use reeve_wire::report::{LogStored, MemberKey, Report, Reported};
use reeve_wire::samples::{Samples, SamplesKept};
use reqwest::{Client, RequestBuilder, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
const POLL_TIMEOUT: Duration = Duration::from_secs(MAX_POLL_SECS as u64 + 15);

#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerError {
    /// No answer, a broken one, or one that means "later" (429, 5xx).
    #[error("{0}")]
    Later(String),
    /// 401 and 403: the credential or token is not accepted.
    #[error("the server does not accept it: {0}")]
    Unaccepted(String),
    /// 409: another instance, or another node of this name.
    #[error("{0}")]
    Conflict(String),
    /// Any other 4xx: the same again will be refused again.
    #[error("the server refuses it: {0}")]
    Refused(String),
}

/// The part of a problem document that people read.
#[derive(Debug, Default, Deserialize)]
struct Problem {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    detail: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Server {
    client: Client,
    base: String,
}

impl Server {
    /// `ca_file`: certificates to trust beside the machine's own.
    pub(crate) fn new(url: &str, ca_file: Option<&Path>) -> anyhow::Result<Self> {
        // A second installation in one process is refused, and harmless.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let parsed = reqwest::Url::parse(url).map_err(|error| anyhow::anyhow!("--server {url}: {error}"))?;
        anyhow::ensure!(matches!(parsed.scheme(), "http" | "https"), "--server {url}: http or https");
        anyhow::ensure!(parsed.password().is_none(), "--server: no password in the address");
        let mut client = Client::builder()
            .user_agent(concat!("reeve-agent/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(REQUEST_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none());
        if let Some(path) = ca_file {
            let pem = std::fs::read(path).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
            let certificates = reqwest::Certificate::from_pem_bundle(&pem)
                .map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
            client = client.tls_certs_merge(certificates);
        }
        Ok(Self { client: client.build()?, base: parsed.as_str().trim_end_matches('/').to_owned() })
    }

    fn path(&self, path: &str) -> String {
        format!("{}/agent/v1/{path}", self.base)
    }

    pub(crate) async fn join(&self, join: &Join) -> Result<Joined, ServerError> {
        answer(self.client.post(self.path("join")).json(join)).await
    }

    /// This server as one node.
    pub(crate) fn as_node(&self, credential: &str) -> NodeServer {
        NodeServer { server: self.clone(), credential: credential.to_owned() }
    }
}

/// The server with a node's credential.
#[derive(Clone)]
pub(crate) struct NodeServer {
    server: Server,
    credential: String,
}

impl std::fmt::Debug for NodeServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NodeServer").field("base", &self.server.base).finish_non_exhaustive()
    }
}

impl NodeServer {
    pub(crate) async fn register(
        &self,
        register: &Register,
        patience: Duration,
    ) -> Result<Registered, ServerError> {
        let request = self.server.client.post(self.server.path("register")).json(register);
        self.send(request.timeout(patience)).await
    }

    pub(crate) async fn desired(&self, generation: i64) -> Result<Desired, ServerError> {
        let request = self
            .server
            .client
            .get(self.server.path("desired"))
            .query(&[("generation", generation), ("wait_secs", i64::from(MAX_POLL_SECS))])
            .timeout(POLL_TIMEOUT);
        self.send(request).await
    }

    /// `patience`: a report that is lost without a word must leave time for another within the lease.
    pub(crate) async fn report(&self, report: &Report, patience: Duration) -> Result<Reported, ServerError> {
        let request = self.server.client.post(self.server.path("report")).json(report);
        self.send(request.timeout(patience.min(REQUEST_TIMEOUT))).await
    }

    pub(crate) async fn samples(&self, samples: &Samples) -> Result<SamplesKept, ServerError> {
        self.send(self.server.client.post(self.server.path("samples")).json(samples)).await
    }

    pub(crate) async fn put_log(
        &self,
        key: &MemberKey,
        offset: u64,
        bytes: Bytes,
    ) -> Result<LogStored, ServerError> {
        let path = format!("logs/{}/{}/{}", key.job_id, key.run_number, key.member);
        let request = self
            .server
            .client
            .put(self.server.path(&path))
            .query(&[("offset", offset)])
            .header("Content-Type", "application/octet-stream")
            .body(bytes);
        self.send(request).await
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ServerError> {
        answer(request.bearer_auth(&self.credential)).await
    }
}

async fn answer<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ServerError> {
    let response = request.send().await.map_err(|error| ServerError::Later(chain(&error)))?;
    let status = response.status();
    let body = response.bytes().await.map_err(|error| ServerError::Later(chain(&error)))?;
    if status.is_success() {
        return serde_json::from_slice(&body)
            .map_err(|error| ServerError::Later(format!("the answer is not what it should be: {error}")));
    }
    let text = words(status, &body);
    Err(match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ServerError::Unaccepted(text),
        StatusCode::CONFLICT => ServerError::Conflict(text),
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => ServerError::Later(text),
        status if status.is_client_error() => ServerError::Refused(text),
        _ => ServerError::Later(text),
    })
}

/// What a problem document says, or the status alone.
fn words(status: StatusCode, body: &[u8]) -> String {
    let problem: Problem = serde_json::from_slice(body).unwrap_or_default();
    match (problem.detail, problem.title) {
        (Some(detail), _) => format!("{detail} ({status})"),
        (None, Some(title)) => format!("{title} ({status})"),
        (None, None) => status.to_string(),
    }
}

/// An error and its causes in one line: reqwest's own says only "error sending request".
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
