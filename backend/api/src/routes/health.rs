//! For machines that watch: is the process alive, can it serve, what does it measure.

use crate::app::AppState;
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

/// The process answers.
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// The database answers and has this version's schema.
pub(crate) async fn readyz(State(app): State<AppState>) -> Result<&'static str> {
    if app.shutdown.is_cancelled() {
        return Err(Problem::new(Code::Unavailable).detail("shutting down"));
    }
    app.store.ping().await?;
    reeve_store::migrate::check_schema(&app.store)
        .await
        .map_err(|error| Problem::new(Code::Unavailable).detail(error.to_string()))?;
    Ok("ready\n")
}

/// Prometheus text.
pub(crate) async fn metrics(State(app): State<AppState>) -> Result<Response> {
    let Some(handle) = &app.metrics else {
        return Err(Problem::not_found().detail("this process records no metrics"));
    };
    let (open, idle) = app.store.pool_size();
    metrics::gauge!("reeve_database_connections").set(f64::from(open));
    metrics::gauge!("reeve_database_connections_idle").set(u32::try_from(idle).map_or(0.0, f64::from));
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], handle.render()).into_response())
}
