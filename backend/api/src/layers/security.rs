//! Headers that keep a browser from doing more than the console needs.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::RngCore;

/// The nonce of this reply's styles.
#[derive(Debug, Clone)]
pub(crate) struct Nonce(pub(crate) String);

pub(crate) async fn headers(mut request: Request, next: Next) -> Response {
    let mut bytes = [0u8; 16];
    rand::rng().fill_bytes(&mut bytes);
    let nonce = URL_SAFE_NO_PAD.encode(bytes);
    // Swagger UI comes with inline styles, and nothing of ours is shown there.
    let style = if request.uri().path().starts_with("/api/docs") {
        "'unsafe-inline'".to_owned()
    } else {
        format!("'nonce-{nonce}'")
    };
    request.extensions_mut().insert(Nonce(nonce));
    let policy = format!(
        "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self' {style}; img-src 'self' data:; \
         font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    );
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    );
    response
}
