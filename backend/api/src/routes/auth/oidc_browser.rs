//! Where a browser is sent during a sign-in through a provider. It refuses to send it to any other site than the
//! provider's and our own.

use super::oidc_start::FLOW_SECS;
use crate::app::AppState;
use crate::auth::cookies;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

const CALLBACK: &str = "/api/v1/auth/oidc/callback";
const LONGEST_PATH: usize = 1_000;

/// The address that the provider sends the browser back to, as it must be registered there.
pub(crate) fn redirect_uri(app: &AppState, headers: &HeaderMap) -> String {
    format!("{}{CALLBACK}", cookies::own_origin(headers, app.settings.public_origin.as_deref()))
}

/// A path of our own console, whatever was asked for.
pub(super) fn safe_path(asked: Option<&str>) -> String {
    let path = asked.unwrap_or("/");
    let own = path.starts_with('/')
        && !path.starts_with("//")
        && !path.starts_with("/api/")
        && !path.contains(['\\', '#'])
        && path.chars().all(|c| c.is_ascii_graphic())
        && path.len() <= LONGEST_PATH;
    if own { path.to_owned() } else { "/".to_owned() }
}

/// To the provider, with the browser's mark.
pub(super) fn away(url: &str, headers: &HeaderMap, browser: &str) -> Response {
    see_other(url, cookies::flow(headers, browser, FLOW_SECS))
}

/// Back to the console, signed in.
pub(super) fn back(path: &str, set: Vec<HeaderValue>) -> Response {
    see_other(path, set)
}

/// Back to where it came from, with the reason why not.
pub(super) fn refused(path: &str, code: &str) -> Response {
    let separator = if path.contains('?') { '&' } else { '?' };
    see_other(&format!("{path}{separator}oidc_error={code}"), Vec::new())
}

fn see_other(place: &str, set: Vec<HeaderValue>) -> Response {
    let Ok(place) = HeaderValue::from_str(place) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = StatusCode::SEE_OTHER.into_response();
    response.headers_mut().insert(header::LOCATION, place);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for value in set {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::safe_path;

    #[test]
    fn a_browser_is_sent_only_to_our_own_pages() {
        for (asked, expected) in [
            (Some("/jobs/1?tab=logs"), "/jobs/1?tab=logs"),
            (None, "/"),
            (Some("//evil.example"), "/"),
            (Some("https://evil.example"), "/"),
            (Some("/\\evil.example"), "/"),
            (Some("/a\r\nset-cookie: x"), "/"),
            (Some("/api/v1/auth/oidc/x/start"), "/"),
            (Some(""), "/"),
        ] {
            assert_eq!(safe_path(asked), expected, "{asked:?}");
        }
    }
}
