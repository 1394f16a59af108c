//! `PUT /agent/v1/logs/{job}/{run}/{member}`: a stretch of a member's log.

use super::credential::NodeCaller;
use super::register::LOG_LIMIT_BYTES;
use crate::app::AppState;
use crate::extract::Params;
use crate::problem::{Code, Problem, Result};
use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use reeve_core::id::JobId;
use reeve_store::logs::{self, LogKey};
use reeve_wire::report::LogStored;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

const MAX_CHUNK_BYTES: usize = 256 * 1_024;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct PutQuery {
    /// Where in the log the body begins.
    offset: i64,
}

/// Keeps raw bytes; answers where to go on. What the server has already is skipped.
#[utoipa::path(put, path = "/agent/v1/logs/{job}/{run}/{member}", operation_id = "agent_put_logs", tag = "agent",
    params(("job" = Uuid, Path), ("run" = i32, Path), ("member" = i32, Path), PutQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = LogStored), (status = 404, description = "not this node's member"),
              (status = 413, description = "more than 256 KiB")))]
pub(crate) async fn put(
    State(app): State<AppState>,
    node: NodeCaller,
    Path((job, run, member)): Path<(Uuid, i32, i32)>,
    Params(query): Params<PutQuery>,
    body: Bytes,
) -> Result<Json<LogStored>> {
    if body.len() > MAX_CHUNK_BYTES {
        return Err(Problem::new(Code::PayloadTooLarge).detail("at most 262144 bytes of log at once"));
    }
    if !(0..=1 << 50).contains(&query.offset) {
        return Err(Problem::new(Code::InvalidQuery).error("offset", "out_of_range", "0 to 2^50"));
    }
    let key = LogKey { job: JobId(job), run, member };
    if !logs::belongs_to(&app.store, key, node.id).await? {
        return Err(Problem::not_found());
    }
    let limit = i64::try_from(LOG_LIMIT_BYTES).unwrap_or(i64::MAX);
    let next_offset = logs::append(&app.store, key, query.offset, &body, limit, app.clock.now()).await?;
    Ok(Json(LogStored { next_offset }))
}
