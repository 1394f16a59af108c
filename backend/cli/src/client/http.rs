//! Requests with patience: what may safely be repeated is, with the same idempotency key. It refuses to repeat an
//! act without a key, and to follow redirects with a token in hand.

use super::{ClientError, Credentials};
use crate::config::Settings;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Method, StatusCode, redirect};
use serde_json::Value;
use std::time::Duration;
use uuid::Uuid;

const ATTEMPTS: u32 = 6;
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Longest that a file may take.
const STREAM: Duration = Duration::from_secs(24 * 3_600);

#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    server: String,
    token: Option<String>,
}

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    method: Method,
    path: String,
    query: Vec<(String, String)>,
    body: Option<Value>,
    key: Option<String>,
    headers: Vec<(&'static str, String)>,
}

impl Call {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    /// Creates or acts, once, however often it is sent.
    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        let mut call = Self::new(Method::POST, path);
        call.body = Some(body);
        call.key = Some(Uuid::new_v4().to_string());
        call
    }

    pub(crate) fn put(path: impl Into<String>, body: Value) -> Self {
        let mut call = Self::new(Method::PUT, path);
        call.body = Some(body);
        call
    }

    pub(crate) fn patch(path: impl Into<String>, body: Value) -> Self {
        let mut call = Self::new(Method::PATCH, path);
        call.body = Some(body);
        call
    }

    /// For what nobody may repeat, and whoever is nobody yet: a key belongs to a caller.
    #[must_use]
    pub(crate) fn without_key(mut self) -> Self {
        self.key = None;
        self
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::DELETE, path)
    }

    fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), query: Vec::new(), body: None, key: None, headers: Vec::new() }
    }

    #[must_use]
    pub(crate) fn query(mut self, name: &str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name.to_owned(), value.to_string())));
        self
    }

    #[must_use]
    pub(crate) fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    #[must_use]
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn may_repeat(&self) -> bool {
        self.method != Method::POST || self.key.is_some()
    }
}

impl Client {
    /// With the token of the environment or of `reeve login`.
    ///
    /// # Errors
    /// [`ClientError::NotSignedIn`].
    pub(crate) fn signed_in(settings: &Settings) -> anyhow::Result<Self> {
        let kept = Credentials::read(&settings.client.folder)?;
        let server = settings.client.server.clone().or_else(|| kept.as_ref().map(|kept| kept.server.clone()));
        let mut client = Self::anonymous(server.as_deref())?;
        // A token is shown only to the server that made it.
        let kept = kept.filter(|kept| kept.server == client.server).map(|kept| kept.token);
        client.token = settings.client.token.clone().or(kept);
        if client.token.is_none() {
            return Err(ClientError::NotSignedIn.into());
        }
        Ok(client)
    }

    pub(crate) fn anonymous(server: Option<&str>) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder()
            .timeout(Duration::from_secs(35))
            .redirect(redirect::Policy::none())
            .user_agent(concat!("reeve/", env!("CARGO_PKG_VERSION")))
            .build()?;
        let server = server.unwrap_or("http://127.0.0.1:8080").trim_end_matches('/').to_owned();
        Ok(Self { http, server, token: None })
    }

    #[must_use]
    pub(crate) fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// The reply's JSON; null for an empty one.
    ///
    /// # Errors
    /// [`ClientError`], after repeating what may be repeated.
    pub(crate) async fn send(&self, call: Call) -> Result<Value, ClientError> {
        let (_, body) = self.send_raw(call.clone()).await?;
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body)
            .map_err(|_| ClientError::Unreadable { url: self.url(&call), status: 200 })
    }

    /// Headers and body as they came.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn send_raw(&self, call: Call) -> Result<(HeaderMap, bytes::Bytes), ClientError> {
        let mut attempt = 1;
        loop {
            let last = attempt >= ATTEMPTS || !call.may_repeat();
            match self.attempt(&call, None).await {
                Ok(response) if !is_busy(response.status()) || last => {
                    return self.read(&call, response).await;
                }
                Ok(response) => tokio::time::sleep(pause(attempt, response.headers())).await,
                Err(source) if last => {
                    return Err(ClientError::Unreachable { url: self.server.clone(), source });
                }
                Err(_) => tokio::time::sleep(pause(attempt, &HeaderMap::new())).await,
            }
            attempt += 1;
        }
    }

    /// A reply of any length, before its body is read.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn stream(&self, call: Call) -> Result<reqwest::Response, ClientError> {
        let unreachable = |source| ClientError::Unreachable { url: self.server.clone(), source };
        let response = self.attempt(&call, Some(STREAM)).await.map_err(unreachable)?;
        if response.status().is_success() {
            return Ok(response);
        }
        match self.read(&call, response).await {
            Err(error) => Err(error),
            Ok(_) => Err(ClientError::Unreadable { url: self.url(&call), status: 200 }),
        }
    }

    /// All items of a list, page after page, no more than `most`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn all(&self, call: Call, most: usize) -> Result<Vec<Value>, ClientError> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let limit = (most - items.len()).clamp(1, 200);
            let page =
                self.send(call.clone().query("limit", Some(limit)).query("cursor", cursor.as_ref())).await?;
            items.extend(page["items"].as_array().cloned().unwrap_or_default());
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            if cursor.is_none() || items.len() >= most {
                items.truncate(most);
                return Ok(items);
            }
        }
    }

    fn url(&self, call: &Call) -> String {
        format!("{}/api/v1{}", self.server, call.path)
    }

    async fn attempt(
        &self,
        call: &Call,
        timeout: Option<Duration>,
    ) -> Result<reqwest::Response, reqwest::Error> {
        let mut request = self.http.request(call.method.clone(), self.url(call)).query(&call.query);
        if let Some(timeout) = timeout {
            request = request.timeout(timeout);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(key) = &call.key {
            request = request.header("Idempotency-Key", key);
        }
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        if let Some(body) = &call.body {
            request = request.json(body);
        }
        request.send().await
    }

    async fn read(
        &self,
        call: &Call,
        response: reqwest::Response,
    ) -> Result<(HeaderMap, bytes::Bytes), ClientError> {
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.bytes().await;
        let body = body.map_err(|source| ClientError::Unreachable { url: self.server.clone(), source })?;
        if status.is_success() {
            return Ok((headers, body));
        }
        match serde_json::from_slice(&body) {
            Ok(problem) => Err(ClientError::Refused(Box::new(problem))),
            Err(_) => Err(ClientError::Unreadable { url: self.url(call), status: status.as_u16() }),
        }
    }
}

fn is_busy(status: StatusCode) -> bool {
    status == StatusCode::SERVICE_UNAVAILABLE || status == StatusCode::TOO_MANY_REQUESTS
}

/// What the server asked for, else longer and longer.
fn pause(attempt: u32, headers: &HeaderMap) -> Duration {
    let asked = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    asked
        .map_or_else(|| Duration::from_millis(200) * 2_u32.pow(attempt.min(7) - 1), Duration::from_secs)
        .min(LONGEST_PAUSE)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
