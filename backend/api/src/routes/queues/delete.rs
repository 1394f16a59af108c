//! `DELETE /queues/{queue}`.

use crate::app::AppState;
use crate::extract::{Caller, IfMatch};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_store::queues;

/// Deletes a queue that has no live jobs; ended jobs keep its name.
#[utoipa::path(delete, path = "/api/v1/queues/{queue}", operation_id = "delete_queue", tag = "queues", params(("queue" = String, Path)),
    responses((status = 204, description = "deleted"), (status = 409, description = "the queue has live jobs"),
              (status = 412, description = "changed since it was read")))]
pub(crate) async fn delete(
    State(app): State<AppState>,
    caller: Caller,
    Path(queue): Path<String>,
    if_match: IfMatch,
) -> Result<StatusCode> {
    let queue = queues::find(&app.store, &queue).await?;
    app.allow(&caller, Action::QueueDelete, &Resource::Team(TeamId(queue.team_id))).await?;
    if_match.check(queue.version)?;
    let mut tx = app.begin(&caller).await?;
    let live = queues::delete(&mut tx, &queue).await?;
    if live > 0 {
        tx.rollback().await?;
        return Err(Problem::new(Code::QueueHasJobs)
            .detail(format!(
                "queue {} has {live} live jobs: set it to draining and wait, or cancel them",
                queue.slug
            ))
            .param("live_jobs", live));
    }
    tx.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}
