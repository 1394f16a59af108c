//! The console's files, built into the binary; every address that is no file is the console's own page.

use crate::layers::security::Nonce;
use axum::Extension;
use axum::body::Body;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../frontend/dist"]
#[allow_missing = true]
struct Files;

const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Reeve</title>\
    <h1>The console is not built into this server</h1>\
    <p>Run <code>npm ci &amp;&amp; npm run build</code> in <code>frontend/</code>, then build the server again.</p>\
    <p>The REST API works: <a href=\"/api/docs\">reference</a>.</p>";

/// Stands empty in the built page; each reply gets its own nonce there.
const NONCE_PLACE: &str = "name=\"csp-nonce\" content=\"\"";

pub(crate) async fn page(method: Method, uri: Uri, Extension(Nonce(nonce)): Extension<Nonce>) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return crate::problem::Problem::not_found().into_response();
    }
    let path = uri.path().trim_start_matches('/');
    if path != "index.html"
        && let Some(file) = Files::get(path)
    {
        return asset(path, file.data.into_owned());
    }
    // A missing script must not be answered with a page.
    if path.starts_with("assets/") {
        return crate::problem::Problem::not_found().into_response();
    }
    let Some(index) = Files::get("index.html") else {
        return (StatusCode::OK, Html(NOT_BUILT)).into_response();
    };
    let text = String::from_utf8_lossy(&index.data)
        .replace(NONCE_PLACE, &format!("name=\"csp-nonce\" content=\"{nonce}\""));
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::CONTENT_TYPE, "text/html; charset=utf-8")];
    (headers, text).into_response()
}

fn asset(path: &str, data: Vec<u8>) -> Response {
    // Vite's names carry a hash of the content.
    let caching =
        if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let kind = mime_guess::from_path(path).first_or_octet_stream();
    let headers = [(header::CACHE_CONTROL, caching), (header::CONTENT_TYPE, kind.as_ref())];
    (headers, Body::from(data)).into_response()
}
