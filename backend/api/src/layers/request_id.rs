//! A name for each request: the caller's own if it is sane, else a new one.

use axum::http::{HeaderMap, HeaderValue, Request};
use tower_http::request_id::{MakeRequestId, RequestId};

pub(crate) const HEADER: &str = "x-request-id";

#[derive(Debug, Clone, Copy)]
pub(crate) struct Random;

impl MakeRequestId for Random {
    fn make_request_id<B>(&mut self, _: &Request<B>) -> Option<RequestId> {
        HeaderValue::from_str(&uuid::Uuid::new_v4().simple().to_string()).ok().map(RequestId::new)
    }
}

/// Drops an id that is too long or not plain, before one is made.
pub(crate) async fn tidy(
    mut request: axum::extract::Request,
    next: axum::middleware::Next,
) -> axum::response::Response {
    let plain = |text: &str| {
        (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    if request.headers().get(HEADER).is_some_and(|value| !value.to_str().is_ok_and(plain)) {
        request.headers_mut().remove(HEADER);
    }
    next.run(request).await
}

pub(crate) fn request_id(headers: &HeaderMap) -> String {
    headers.get(HEADER).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}
