//! `GET /jobs/{id}/explain`.

use super::explain_view::{ExplainView, expected_start_view, view};
use super::load::{load, resource};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use crate::refs::{JobRef, TeamRef};
use crate::routes::idle_notices::view::idle_view;
use axum::Json;
use axum::extract::{Path, State};
use reeve_core::access::{Action, Verdict, may};
use reeve_core::job::JobState;
use reeve_core::reason::{ExpectedStart, Explanation};
use reeve_store::idle;
use reeve_store::jobs::show;
use reeve_store::{StoreError, evictions, policy};

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
        let notices = idle::list::open_of_jobs(&app.store, &[job.id]).await?;
        let idle = notices.first().map(|notice| idle_view(notice, app.clock.now())).transpose()?;
        return Ok(Json(ExplainView { idle, ..view(job, None, None, Vec::new(), Vec::new()) }));
    }
    let explanation: Option<Explanation> =
        job.reason.clone().map(serde_json::from_value).transpose().map_err(StoreError::from)?;
    let lead_secs = policy::in_force(&app.store).await?.document.backfill.lead_without_limit_secs();
    let offers = show::offers(&app.store, job.job_id(), app.clock.now(), lead_secs, MOST_NODES).await?;
    let awaited = evictions::awaited_by(&app.store, job.job_id()).await?;
    let expected_start = explanation.as_ref().and_then(|explanation| explanation.expected_start);
    let expected_start = match expected_start {
        Some(start) => Some(expected_start_view(start, basis(&app, &caller, start).await?)),
        None => None,
    };
    Ok(Json(view(job, explanation, expected_start, offers, awaited)))
}

/// The job whose end is waited for, if the caller may read it.
async fn basis(app: &AppState, caller: &Caller, start: ExpectedStart) -> Result<Option<JobRef>> {
    let ExpectedStart::TimeLimit { job, .. } = start else { return Ok(None) };
    let job = match show::get(&app.store, job).await {
        Err(StoreError::NotFound) => return Ok(None),
        found => found?,
    };
    let readable = may(&caller.actor, Action::JobRead, &resource(&job)) == Verdict::Allowed;
    let team = TeamRef { id: job.team_id, slug: job.team_slug, name: job.team_name };
    Ok(readable.then_some(JobRef { id: job.id, name: job.name, team }))
}
