//! `GET /jobs/{id}/explain`.

use super::explain_view::{ExplainView, view};
use super::load::load;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::Json;
use axum::extract::{Path, State};
use reeve_core::access::Action;
use reeve_core::job::JobState;
use reeve_core::reason::Explanation;
use reeve_store::jobs::show;
use reeve_store::{StoreError, evictions};

/// Nodes shown as evidence.
const MOST_NODES: i64 = 20;

/// Why a job waits: the planner's verdict with its numbers, what would help, and the evidence node by node.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/explain", operation_id = "explain_job", tag = "jobs", params(("id" = String, Path)),
    responses((status = 200, body = ExplainView), (status = 404, description = "no such job")))]
pub(crate) async fn explain(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ExplainView>> {
    let job = load(&app, &caller, &id, Action::JobRead).await?;
    if job.state()? != JobState::Queued {
        return Ok(Json(view(job, None, Vec::new(), Vec::new())));
    }
    let explanation: Option<Explanation> =
        job.reason.clone().map(serde_json::from_value).transpose().map_err(StoreError::from)?;
    let offers = show::offers(&app.store, job.job_id(), MOST_NODES).await?;
    let awaited = evictions::awaited_by(&app.store, job.job_id()).await?;
    Ok(Json(view(job, explanation, offers, awaited)))
}
