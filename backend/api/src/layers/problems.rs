//! Writes the body of every error: problems of handlers, and bare statuses of the libraries below.

use super::request_id::request_id;
use crate::problem::{Code, Problem};
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::any::Any;

const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

pub(crate) async fn write(request: Request, next: Next) -> Response {
    let id = request_id(request.headers());
    let instance = request.uri().path().to_owned();
    // No name has a NUL in it, and PostgreSQL could not be asked for one.
    let mut response = match instance.contains("%00") {
        true => Problem::not_found().into_response(),
        false => next.run(request).await,
    };
    let problem = match response.extensions_mut().remove::<Problem>() {
        Some(problem) => problem,
        None => match bare(&response) {
            Some(code) => Problem::new(code),
            None => return response,
        },
    };
    let body = serde_json::to_vec(&problem.view(&instance, &id)).unwrap_or_default();
    let (mut parts, _) = response.into_parts();
    if parts.status != problem.code.status() {
        parts.status = StatusCode::from_u16(problem.code.status()).unwrap_or(parts.status);
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, PROBLEM_JSON);
    parts.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Response::from_parts(parts, Body::from(body))
}

/// An error that no handler of ours made.
fn bare(response: &Response) -> Option<Code> {
    let code = match response.status().as_u16() {
        405 => Code::MethodNotAllowed,
        408 => Code::Timeout,
        413 => Code::PayloadTooLarge,
        404 => Code::NotFound,
        // A path parameter that is not readable names nothing.
        400 => Code::NotFound,
        500 => Code::Internal,
        503 => Code::Unavailable,
        _ => return None,
    };
    let written = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == PROBLEM_JSON);
    (!written).then_some(code)
}

/// A panic is a defect: logged with its text, told outside as 500.
pub(crate) fn from_panic(panic: Box<dyn Any + Send + 'static>) -> Response {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no text");
    tracing::error!(panic = text, "a handler panicked");
    Problem::new(Code::Internal).into_response()
}
