//! The whole server as one service: routes, their layers, the document, the console.

use crate::app::AppState;
use crate::layers::{problems, rate_limit, request_id, security, timing};
use crate::problem::{Problem, help};
use crate::{console, openapi, routes};
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use axum::{Json, Router};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::request_id::{PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;
use utoipa_swagger_ui::{Config, SwaggerUi};

/// Largest body but for those routes that say otherwise.
const MOST_BODY_BYTES: usize = 1024 * 1024;

/// All that the server answers.
pub fn router(state: AppState) -> Router {
    let timeout = TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, state.settings.request_timeout);
    let (short, long) = routes::split();
    let document = openapi::document();
    let id_header = HeaderName::from_static(request_id::HEADER);
    let docs = SwaggerUi::new("/api/docs").config(Config::new(["/api/openapi.json"]).validator_url("none"));
    let api: Router<AppState> = Router::new()
        .merge(Router::from(short).layer(timeout))
        .merge(Router::from(long))
        .route("/api/openapi.json", get(async move || Json(document)))
        .route("/problems/{code}", get(help::page))
        .route("/api/{*rest}", axum::routing::any(missing))
        .merge(Router::<AppState>::from(docs))
        .fallback(console::page)
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES))
        .layer(from_fn_with_state(state.clone(), rate_limit::limit))
        .layer(from_fn_with_state(state.clone(), timing::measure))
        .layer(CatchPanicLayer::custom(problems::from_panic))
        .layer(from_fn(problems::write))
        .layer(CompressionLayer::new())
        .layer(from_fn(security::headers))
        .layer(TraceLayer::new_for_http())
        .layer(PropagateRequestIdLayer::new(id_header.clone()))
        .layer(SetRequestIdLayer::new(id_header, request_id::Random))
        .layer(from_fn(request_id::tidy));
    api.with_state(state)
}

/// Below /api nothing is a page of the console.
async fn missing() -> Problem {
    Problem::not_found()
}
