//! `GET /jobs/{id}/rules`.

use super::load::load;
use super::rules_view::RulesView;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use axum::Json;
use axum::extract::{Path, State};
use reeve_core::access::Action;
use reeve_core::kind::Kind;
use reeve_core::policy::Place;
use reeve_store::{policy, teams};

/// The rules that hold for a job, each with the queue, team or installation that it comes from.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/rules", operation_id = "show_job_rules", tag = "jobs", params(("id" = String, Path)),
    responses((status = 200, body = RulesView), (status = 404, description = "no such job")))]
pub(crate) async fn rules(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<RulesView>> {
    let job = load(&app, &caller, &id, Action::JobRead).await?;
    let kind: Kind = job.kind.parse().map_err(|error| Problem::internal(&error))?;
    let in_force = policy::in_force(&app.store).await?;
    let chain = teams::chain(&app.store, job.team()).await?;
    let teams: Vec<&str> = chain.iter().map(String::as_str).collect();
    let place = Place { queue: Some(&job.queue_slug), teams: &teams };
    Ok(Json(RulesView::new(kind, in_force.version, in_force.document.effective_rules(kind, place))))
}
