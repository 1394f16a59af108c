//! Browser sessions: two HttpOnly cookies, and the check that a change comes from Reeve's own pages.

use crate::problem::{Code, Problem, Result};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum_extra::extract::CookieJar;

pub(crate) const ACCESS: &str = "reeve_session";
pub(crate) const REFRESH: &str = "reeve_refresh";
/// Marks the browser that left for an identity provider.
pub(crate) const FLOW: &str = "reeve_oidc";
const FLOW_PATH: &str = "/api/v1/auth/oidc";
const REFRESH_PATH: &str = "/api/v1/auth";

pub(crate) fn read(headers: &HeaderMap, name: &str) -> Option<String> {
    CookieJar::from_headers(headers).get(name).map(|cookie| cookie.value().to_owned())
}

/// Set-Cookie for both; `None` ends them.
pub(crate) fn set(
    headers: &HeaderMap,
    tokens: Option<(&str, &str)>,
    access_secs: i64,
    refresh_secs: i64,
) -> Vec<HeaderValue> {
    let secure = if is_loopback(headers) { "" } else { "; Secure" };
    let (access, refresh) = tokens.unwrap_or_default();
    let (access_secs, refresh_secs) = if tokens.is_some() { (access_secs, refresh_secs) } else { (0, 0) };
    [(ACCESS, access, "/", access_secs), (REFRESH, refresh, REFRESH_PATH, refresh_secs)]
        .into_iter()
        .filter_map(|(name, value, path, secs)| {
            let text = format!("{name}={value}; Path={path}; Max-Age={secs}; HttpOnly; SameSite=Lax{secure}");
            HeaderValue::from_str(&text).ok()
        })
        .collect()
}

/// Set-Cookie for the mark of a browser that leaves for a provider.
pub(crate) fn flow(headers: &HeaderMap, mark: &str, secs: i64) -> Vec<HeaderValue> {
    let secure = if is_loopback(headers) { "" } else { "; Secure" };
    let text = format!("{FLOW}={mark}; Path={FLOW_PATH}; Max-Age={secs}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&text).into_iter().collect()
}

/// Where the console is: as set, or else as the request came.
pub(crate) fn own_origin(headers: &HeaderMap, public_origin: Option<&str>) -> String {
    if let Some(origin) = public_origin {
        return origin.trim_end_matches('/').to_owned();
    }
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or("localhost");
    let scheme = if is_loopback(headers) { "http" } else { "https" };
    format!("{scheme}://{host}")
}

/// Requests that change something with a cookie must come from our own pages.
pub(crate) fn check_origin(method: &Method, headers: &HeaderMap, public_origin: Option<&str>) -> Result<()> {
    if method.is_safe() {
        return Ok(());
    }
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let ours = match text(header::ORIGIN) {
        Some(origin) => {
            public_origin == Some(origin)
                || origin.split_once("://").is_some_and(|(_, host)| text(header::HOST) == Some(host))
        }
        None => text(header::HeaderName::from_static("sec-fetch-site")) == Some("same-origin"),
    };
    if ours { Ok(()) } else { Err(Problem::new(Code::ForeignOrigin)) }
}

fn is_loopback(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}
