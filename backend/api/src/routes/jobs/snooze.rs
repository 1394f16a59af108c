//! `POST /jobs/{id}/snooze`.

use super::load::lock;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Fields, Problem, Result};
use crate::routes::idle_notices::view::{IdleNoticeView, notice_view};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use chrono::TimeDelta;
use reeve_core::access::Action;
use reeve_core::idle::{IdleRule, snooze as put_off};
use reeve_core::policy::Place;
use reeve_store::idle::notices;
use reeve_store::jobs::row::JobRow;
use reeve_store::{StoreError, policy, teams};
use serde::Deserialize;
use utoipa::ToSchema;

const MOST_SECS: i64 = 30 * 86_400;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Snooze {
    /// For so much longer nothing happens to it; the idle rule bounds the sum.
    secs: i64,
    /// Why, for people; at most 500 characters.
    reason: Option<String>,
}

/// Puts off what follows from a job's GPUs computing nothing. Whoever may cancel the job may do so.
#[utoipa::path(post, path = "/api/v1/jobs/{id}/snooze", operation_id = "snooze_job", tag = "jobs", params(("id" = String, Path)),
    request_body = Snooze,
    responses((status = 200, body = IdleNoticeView), (status = 404, description = "no such job"),
              (status = 409, description = "it has no notice whose time still runs"),
              (status = 422, description = "longer than its rule allows")))]
pub(crate) async fn snooze(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    keyed: Keyed<Snooze>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut fields = Fields::new();
    fields.range("/secs", body.secs, 1, MOST_SECS);
    fields.text("/reason", body.reason.as_deref().unwrap_or_default(), 0, 500);
    fields.done()?;
    let (mut tx, job) = lock(&app, &caller, &id, Action::JobHold).await?;
    let rule = rule_of(&app, &job).await?;
    let notice = match notices::open_of(&mut tx, job.job_id()).await {
        Err(StoreError::NotFound) => return Err(not_idle("it has no idle notice")),
        found => found?,
    };
    if notice.state != "notified" {
        return Err(not_idle(&format!("its notice is {} already", notice.state)));
    }
    let more = TimeDelta::seconds(body.secs);
    let after =
        put_off(&rule, &notice.in_core()?, more, tx.now()).map_err(|left| too_long(left.num_seconds()))?;
    notices::snooze(&mut tx, &notice, &after, caller.actor.id, body.reason.as_deref()).await?;
    let after = notices::open_of(&mut tx, job.job_id()).await?;
    let view = notice_view(after, tx.now())?;
    once.commit(tx, StatusCode::OK, &view).await
}

/// The idle rule where the job stands.
async fn rule_of(app: &AppState, job: &JobRow) -> Result<IdleRule> {
    let kind = job.kind.parse().map_err(StoreError::from)?;
    let teams = teams::chain(&app.store, job.team()).await?;
    let teams: Vec<&str> = teams.iter().map(String::as_str).collect();
    let place = Place { queue: Some(&job.queue_slug), teams: &teams };
    Ok(policy::in_force(&app.store).await?.document.idle_rule_at(kind, place))
}

fn not_idle(why: &str) -> Problem {
    Problem::new(Code::JobNotIdle).detail(format!("there is nothing to put off: {why}"))
}

fn too_long(left_secs: i64) -> Problem {
    let detail = format!("its idle rule lets it be put off by {left_secs} more seconds");
    Problem::new(Code::InvalidBody).error("/secs", "too_long", detail).param("left_secs", left_secs)
}
