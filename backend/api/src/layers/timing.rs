//! How long requests take, by route and status. The route is the pattern, never an id.

use crate::app::AppState;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;

pub(crate) async fn measure(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = request.method().as_str().to_owned();
    let begun = app.clock.now();
    let response = next.run(request).await;
    let secs = (app.clock.now() - begun).to_std().unwrap_or_default().as_secs_f64();
    let status = response.status().as_u16().to_string();
    metrics::histogram!("reeve_http_request_duration_seconds", "route" => route, "method" => method, "status" => status)
        .record(secs);
    response
}
