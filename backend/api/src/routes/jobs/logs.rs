//! `GET /jobs/{id}/logs`: a tail, a stretch by offset, or the whole as a download.

use super::load::load;
use super::log_window::{Stretch, Window, onwards, tail};
use crate::app::AppState;
use crate::extract::{Caller, List};
use crate::problem::{Code, Problem, Result};
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::stream::try_unfold;
use reeve_core::access::Action;
use reeve_store::logs::{self, Extent, LogKey};
use reeve_store::{Store, StoreError};
use serde::Deserialize;
use utoipa::IntoParams;

const DEFAULT_TAIL_BYTES: i64 = 64 * 1_024;
const MAX_BYTES: i64 = 4 * 1_024 * 1_024;
/// Chunks read at once; an agent's chunk has at most 256 KiB.
const CHUNKS_AT_ONCE: i64 = 16;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogQuery {
    /// The run's number; the latest when left out.
    run: Option<i32>,
    /// Rank in the gang; 0 when left out.
    member: Option<i32>,
    /// The last bytes; 65,536 when nothing is said. At most 4 MiB.
    tail_bytes: Option<i64>,
    /// From this byte on, to follow: go on with `Reeve-Log-Next`.
    offset: Option<i64>,
    /// With `offset`: at most so many; at most 4 MiB.
    limit_bytes: Option<i64>,
    /// The whole log as a file.
    download: Option<bool>,
}

/// A member's log as plain text. `Reeve-Log-Start` is the offset of the first byte answered, `Reeve-Log-Next` where to
/// go on, `Reeve-Log-Complete` whether no more will come.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/logs", operation_id = "read_job_logs", tag = "jobs", params(("id" = String, Path), LogQuery),
    responses((status = 200, content_type = "text/plain", body = String),
              (status = 404, description = "no such job, run or member")))]
pub(crate) async fn logs(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    list: List<LogQuery>,
) -> Result<Response> {
    let job = load(&app, &caller, &id, Action::JobRead).await?;
    let query = list.filter;
    let latest = if job.run_number > 0 { Some(job.run_number) } else { None };
    let Some(run) = query.run.or(latest) else {
        let nothing = Stretch::at(Window { from: 0, to: 0 });
        return Ok(text(nothing, Extent { start: 0, end: 0, complete: false }));
    };
    let key = LogKey { job: job.job_id(), run, member: query.member.unwrap_or(0) };
    let extent = logs::extent(&app.store, key, app.clock.now()).await?;
    if query.download == Some(true) {
        let name = format!("{}-run{run}-member{}.log", job.id, key.member);
        return Ok(download(app.store.clone(), key, extent, &name));
    }
    let window = window(&query, extent)?;
    Ok(text(read(&app.store, key, window).await?, extent))
}

fn window(query: &LogQuery, extent: Extent) -> Result<Window> {
    let bounded = |name: &str, value: i64, most: i64| {
        if (0..=most).contains(&value) {
            return Ok(value);
        }
        let detail = format!("0 to {most}");
        Err(Problem::new(Code::InvalidQuery).error(name, "out_of_range", detail))
    };
    match (query.offset, query.tail_bytes) {
        (Some(_), Some(_)) => Err(Problem::new(Code::InvalidQuery).error(
            "tail_bytes",
            "not_together",
            "give either offset or tail_bytes",
        )),
        (Some(offset), None) => {
            let offset = bounded("offset", offset, i64::MAX)?;
            let limit = bounded("limit_bytes", query.limit_bytes.unwrap_or(MAX_BYTES), MAX_BYTES)?;
            Ok(onwards(extent, offset, limit))
        }
        (None, bytes) => {
            Ok(tail(extent, bounded("tail_bytes", bytes.unwrap_or(DEFAULT_TAIL_BYTES), MAX_BYTES)?))
        }
    }
}

async fn read(store: &Store, key: LogKey, window: Window) -> Result<Stretch, StoreError> {
    let mut stretch = Stretch::at(window);
    while stretch.next < window.to {
        let before = stretch.next;
        let chunks = logs::chunks(store, key, before, CHUNKS_AT_ONCE).await?;
        stretch.add(window, &chunks);
        if stretch.next == before {
            // Nothing but a gap up to there: the reader goes on after it.
            stretch.next = window.to;
        }
    }
    Ok(stretch)
}

/// Streams the whole: memory holds a few chunks, however long the log is.
fn download(store: Store, key: LogKey, extent: Extent, name: &str) -> Response {
    let stream = try_unfold(extent.start, move |next| {
        let store = store.clone();
        async move {
            let window = Window { from: next, to: extent.end };
            let mut stretch = Stretch::at(window);
            stretch.add(window, &logs::chunks(&store, key, next, CHUNKS_AT_ONCE).await?);
            let more = !stretch.bytes.is_empty();
            Ok::<_, StoreError>(more.then(|| (Bytes::from(stretch.bytes), stretch.next)))
        }
    });
    let mut response = Body::from_stream(stream).into_response();
    let disposition = format!("attachment; filename=\"{name}\"");
    headers(response.headers_mut(), extent, extent.start, extent.end);
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

fn text(stretch: Stretch, extent: Extent) -> Response {
    let mut response = Body::from(stretch.bytes).into_response();
    headers(response.headers_mut(), extent, stretch.start, stretch.next);
    response
}

fn headers(headers: &mut HeaderMap, extent: Extent, start: i64, next: i64) {
    let complete = extent.complete && next >= extent.end;
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(HeaderName::from_static("reeve-log-start"), start.into());
    headers.insert(HeaderName::from_static("reeve-log-next"), next.into());
    let complete = HeaderValue::from_static(if complete { "true" } else { "false" });
    headers.insert(HeaderName::from_static("reeve-log-complete"), complete);
}
