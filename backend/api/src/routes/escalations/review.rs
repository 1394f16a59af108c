//! `POST /escalations/{id}/review`.

use super::act::Acting;
use super::body::prose;
use super::view::EscalationView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Fields, Result};
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::approval::ReviewOutcome;
use reeve_store::escalations::decide::{self, Decision};
use serde::Deserialize;
use utoipa::ToSchema;

/// What the review found.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Review {
    /// `confirmed`, or `objected`: what is still active of it ends.
    outcome: String,
    #[schema(min_length = 1, max_length = 2000)]
    comment: String,
}

/// Reviews an emergency that was activated without approval.
#[utoipa::path(post, path = "/api/v1/escalations/{id}/review", operation_id = "review_escalation", tag = "approvals",
    params(("id" = String, Path)), request_body = Review,
    responses((status = 200, body = EscalationView), (status = 403, description = "own emergency, or no reviewer"),
              (status = 404, description = "no such escalation"), (status = 409, description = "no review is due")))]
pub(crate) async fn review(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    keyed: Keyed<Review>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut fields = Fields::new();
    let outcome = fields.word::<ReviewOutcome>("/outcome", &body.outcome);
    prose(&mut fields, "/comment", &body.comment, 1);
    fields.done()?;
    let outcome = outcome.unwrap_or(ReviewOutcome::Confirmed);
    let acting = Acting::begin(&app, &caller, &id, Action::EscalationReview, "escalation.review").await?;
    let judged = acting.case.may_review(acting.by);
    let (mut acting, ()) = acting.judged(judged).await?;
    let decision = Decision { by: caller.actor.id, comment: Some(&body.comment) };
    let row = decide::review(&mut acting.tx, &acting.row, outcome, decision).await?;
    acting.commit(once, row).await
}
