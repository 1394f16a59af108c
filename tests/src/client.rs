//! Requests to the router in process, and what came back.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, header};
use serde_json::Value;
use std::net::SocketAddr;
use std::pin::Pin;
use tower::ServiceExt;

/// Somebody who sends requests; without a token nobody in particular.
#[derive(Debug, Clone)]
pub struct Client {
    pub router: Router,
    pub token: Option<String>,
}

/// A request that is sent when awaited.
#[derive(Debug)]
#[must_use = "a call is sent when it is awaited"]
pub struct Call {
    router: Router,
    request: Request<Body>,
    label: String,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
    label: String,
}

impl Client {
    /// A request; paths without a prefix of their own are below `/api/v1`.
    ///
    /// # Panics
    /// For a path that is no URI.
    pub fn call(&self, method: &str, path: &str) -> Call {
        let raw = ["/api/", "/agent/", "/healthz", "/readyz", "/metrics", "/problems/"];
        let uri = if raw.iter().any(|prefix| path.starts_with(prefix)) {
            path.to_owned()
        } else {
            format!("/api/v1{path}")
        };
        let method: Method = method.to_ascii_uppercase().parse().expect("a method");
        let label = format!("{method} {uri}");
        let mut request = Request::builder().method(method).uri(&uri).header(header::HOST, "reeve.test");
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(Body::empty()).unwrap_or_else(|error| panic!("{label}: {error}"));
        Call { router: self.router.clone(), request, label }
    }

    pub fn get(&self, path: &str) -> Call {
        self.call("GET", path)
    }

    pub fn post(&self, path: &str, body: Value) -> Call {
        self.call("POST", path).json(&body)
    }

    pub fn put(&self, path: &str, body: Value) -> Call {
        self.call("PUT", path).json(&body)
    }

    pub fn patch(&self, path: &str, body: Value) -> Call {
        self.call("PATCH", path).json(&body)
    }

    pub fn delete(&self, path: &str) -> Call {
        self.call("DELETE", path)
    }
}

impl Call {
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// # Panics
    /// For a content type that is no header.
    pub fn body(mut self, content_type: &str, body: impl Into<Body>) -> Self {
        self.request.headers_mut().insert(header::CONTENT_TYPE, content_type.parse().expect("a header"));
        *self.request.body_mut() = body.into();
        self
    }

    /// # Panics
    /// For what is no header.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.request.headers_mut().insert(name, value.parse().expect("a header"));
        self
    }

    pub fn if_match(self, version: i64) -> Self {
        self.header("if-match", &format!("\"{version}\""))
    }

    /// As if the connection came from there.
    ///
    /// # Panics
    /// For what is no address.
    pub fn from(mut self, address: &str) -> Self {
        let address = SocketAddr::new(address.parse().expect("an address"), 4_000);
        self.request.extensions_mut().insert(ConnectInfo(address));
        self
    }

    pub fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }
}

impl Call {
    /// The answer before its body is read.
    pub async fn response(self) -> axum::response::Response {
        let Ok(response) = self.router.oneshot(self.request).await;
        response
    }
}

impl IntoFuture for Call {
    type Output = Reply;
    type IntoFuture = Pin<Box<dyn Future<Output = Reply> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Ok(response) = self.router.oneshot(self.request).await;
            let (parts, body) = response.into_parts();
            let body = axum::body::to_bytes(body, usize::MAX).await.expect("a whole body");
            Reply { status: parts.status.as_u16(), headers: parts.headers, body, label: self.label }
        })
    }
}

impl Reply {
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header's text; empty when it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// # Panics
    /// When the body is no JSON.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{self}: {error}"))
    }

    /// # Panics
    /// When the status is another.
    #[track_caller]
    pub fn expect(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{self}");
        self
    }

    /// The body of a success.
    ///
    /// # Panics
    /// When it is none.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self}");
        if self.body.is_empty() { Value::Null } else { self.json() }
    }

    /// The problem of a refusal with this status and code, which must be complete.
    ///
    /// # Panics
    /// When it is another answer.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{self}");
        assert_eq!(self.header("content-type"), "application/problem+json", "{self}");
        let problem = self.json();
        assert_eq!(problem["code"], code, "{self}");
        assert_eq!(problem["status"], status, "{self}");
        assert_eq!(problem["type"], format!("/problems/{code}"), "{self}");
        for field in ["title", "detail", "instance", "request_id"] {
            assert!(problem[field].as_str().is_some_and(|text| !text.is_empty()), "no {field}: {self}");
        }
        assert!(problem["errors"].is_array() && problem["params"].is_object(), "{self}");
        problem
    }

    /// The same for one wrong field.
    ///
    /// # Panics
    /// When it is another answer.
    #[track_caller]
    pub fn refused_field(&self, status: u16, pointer: &str, code: &str) -> Value {
        assert_eq!(self.status, status, "{self}");
        let problem = self.json();
        let found = problem["errors"].as_array().is_some_and(|errors| {
            errors.iter().any(|error| error["pointer"] == pointer && error["code"] == code)
        });
        assert!(found, "no {code} at {pointer}: {self}");
        problem
    }
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.text();
        let cut: String = text.chars().take(2_000).collect();
        write!(f, "{} answered {} {cut}", self.label, self.status)
    }
}
