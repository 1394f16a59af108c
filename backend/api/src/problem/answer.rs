//! The problem itself. Handlers name the code and its numbers; request id and instance are added on the way out.

use super::codes::Code;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What handlers return.
pub type Result<T, E = Problem> = std::result::Result<T, E>;

/// A refusal.
#[derive(Debug, Clone)]
pub struct Problem {
    pub code: Code,
    /// For people; may be empty, then the title stands alone.
    pub detail: String,
    /// For translation and programs, for example `have`, `need`.
    pub params: Map<String, Value>,
    pub errors: Vec<FieldError>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// One wrong field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// JSON pointer into the body, or the name of a query parameter.
    #[schema(example = "/gpus")]
    pub pointer: String,
    #[schema(example = "out_of_range")]
    pub code: String,
    pub detail: String,
}

/// A problem as it is sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemView {
    #[serde(rename = "type")]
    #[schema(example = "/problems/not_found")]
    pub kind: String,
    pub title: String,
    #[schema(example = 404)]
    pub status: u16,
    pub detail: String,
    pub instance: String,
    #[schema(example = "not_found")]
    pub code: String,
    #[schema(value_type = Object)]
    pub params: Map<String, Value>,
    pub errors: Vec<FieldError>,
    pub request_id: String,
}

impl Problem {
    #[must_use]
    pub fn new(code: Code) -> Self {
        let headers = match code {
            Code::Unavailable | Code::NotReady | Code::Timeout => {
                vec![(header::RETRY_AFTER, HeaderValue::from_static("2"))]
            }
            Code::Unauthenticated | Code::InvalidCredential => {
                vec![(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"reeve\""))]
            }
            _ => Vec::new(),
        };
        Self { code, detail: String::new(), params: Map::new(), errors: Vec::new(), headers }
    }

    #[must_use]
    pub fn not_found() -> Self {
        Self::new(Code::NotFound)
    }

    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    #[must_use]
    pub fn param(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.params.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a wrong field.
    #[must_use]
    pub fn error(mut self, pointer: impl Into<String>, code: &str, detail: impl Into<String>) -> Self {
        self.errors.push(FieldError {
            pointer: pointer.into(),
            code: code.to_owned(),
            detail: detail.into(),
        });
        self
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.retain(|(have, _)| *have != name);
        self.headers.push((name, value));
        self
    }

    /// Logged once, here; nothing of it goes outside.
    #[must_use]
    pub fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(error = error as &dyn std::error::Error, "internal error");
        Self::new(Code::Internal)
    }

    /// The body, with what only the way out knows.
    #[must_use]
    pub fn view(&self, instance: &str, request_id: &str) -> ProblemView {
        let title = self.code.title().to_owned();
        ProblemView {
            kind: format!("/problems/{}", self.code.as_str()),
            detail: if self.detail.is_empty() { title.clone() } else { self.detail.clone() },
            title,
            status: self.code.status(),
            instance: instance.to_owned(),
            code: self.code.as_str().to_owned(),
            params: self.params.clone(),
            errors: self.errors.clone(),
            request_id: request_id.to_owned(),
        }
    }
}

impl IntoResponse for Problem {
    /// An empty reply that carries the problem; [`crate::layers::problems`] writes the body.
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        for (name, value) in &self.headers {
            response.headers_mut().insert(name.clone(), value.clone());
        }
        response.extensions_mut().insert(self);
        response
    }
}
