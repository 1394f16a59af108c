//! What this process measures, and what the database says of teams and pools.
//!
//! It needs no credential, as scrapers have none, so it refuses to name a job or a person, and however often it is asked,
//! the database is asked once in five seconds.

use super::{dcgm, gauges::render};
use crate::app::AppState;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_store::{StoreError, gauges, gpu_use};
use tokio::sync::Mutex;

const FRESH_SECS: i64 = 5;
/// What is older is not how a GPU is used now.
const SAMPLE_FRESH: TimeDelta = TimeDelta::minutes(2);

/// The last answer of the database; whoever asks meanwhile waits for the one who reads.
#[derive(Debug, Default)]
pub(crate) struct GaugeCache(Mutex<Option<(DateTime<Utc>, String)>>);

/// Prometheus text.
pub(crate) async fn show(State(app): State<AppState>) -> Response {
    let (open, idle) = app.store.pool_size();
    metrics::gauge!("reeve_database_connections").set(f64::from(open));
    metrics::gauge!("reeve_database_connections_idle").set(u32::try_from(idle).map_or(0.0, f64::from));
    let mut text = app.metrics.as_ref().map_or_else(String::new, |handle| handle.render());
    match fresh(&app).await {
        Ok(gauges) => text.push_str(&gauges),
        // The rest is worth most when the database is away.
        Err(error) => {
            tracing::warn!(%error, "no gauges of teams and pools");
            text.push_str("# TYPE reeve_database_up gauge\nreeve_database_up 0\n");
        }
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

async fn fresh(app: &AppState) -> Result<String, StoreError> {
    let mut kept = app.gauges.0.lock().await;
    let now = app.clock.now();
    if let Some((at, text)) = kept.as_ref()
        && (now - *at).abs() < TimeDelta::seconds(FRESH_SECS)
    {
        return Ok(text.clone());
    }
    let mut text = render(&gauges::read(&app.store).await?, now);
    text.push_str(&dcgm::render(&gpu_use::gauges::read(&app.store, now - SAMPLE_FRESH).await?));
    *kept = Some((now, text.clone()));
    Ok(text)
}
