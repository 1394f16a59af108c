//! Replies that carry a version.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use reeve_store::version::etag;
use serde::Serialize;

/// 200 with a JSON view and its ETag.
pub(crate) fn versioned(version: i64, view: &impl Serialize) -> Response {
    versioned_with(StatusCode::OK, version, view)
}

/// The same with another status.
pub(crate) fn versioned_with(status: StatusCode, version: i64, view: &impl Serialize) -> Response {
    let mut response = (status, axum::Json(view)).into_response();
    if let Ok(tag) = HeaderValue::from_str(&etag(version)) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}
