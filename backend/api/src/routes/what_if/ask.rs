//! `POST /what-if`.

use super::body::AskWhatIf;
use super::changes::changes;
use super::view::{WhatIfView, view};
use crate::app::AppState;
use crate::extract::{Caller, Json};
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::State;
use reeve_core::access::{Action, Resource};
use reeve_core::what_if::{difference, imagine, settle};
use reeve_store::schedule::look::look;
use std::time::Duration;

const MOST_CHANGES: usize = 100;
/// Longest that a question waits for its turn: each takes a core for as long as a few plans take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Plans the live state with changes that are only imagined, and tells what would differ from today: who would start,
/// be evicted, lend and wait, once everybody who was asked to leave has left. Writes nothing.
#[utoipa::path(post, path = "/api/v1/what-if", operation_id = "ask_what_if", tag = "what-if", request_body = AskWhatIf,
    responses((status = 200, body = WhatIfView),
              (status = 403, description = "an imagined job of a team to which the caller may not submit"),
              (status = 404, description = "no such job, or none that the caller may see"),
              (status = 422, description = "a change is wrong in itself; `errors` names every field"),
              (status = 429, description = "others are asking; repeat")))]
pub(crate) async fn ask(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<AskWhatIf>,
) -> Result<axum::Json<WhatIfView>> {
    app.allow(&caller, Action::WhatIf, &Resource::Installation).await?;
    let mut fields = Fields::new();
    fields.range("/changes", i64::try_from(body.changes.len()).unwrap_or(i64::MAX), 1, MOST_CHANGES as i64);
    fields.done()?;
    let now = app.clock.now();
    let imagined = changes(&app, &caller, body.changes, now).await?;
    let turn = tokio::time::timeout(PATIENCE, app.what_if.clone().acquire_owned()).await;
    let Ok(Ok(_turn)) = turn else {
        return Err(Problem::new(Code::RateLimited)
            .detail("other questions are being worked out: repeat in a moment"));
    };
    let snapshot = look(&app.store, now).await?;
    let submitted = imagined.submitted;
    let worked_out = tokio::task::spawn_blocking(move || {
        let then = settle(imagine(&snapshot, imagined.changes)?);
        let today = settle(snapshot);
        Ok((difference(&today, &then), then))
    });
    let worked_out = worked_out.await.map_err(|error| Problem::internal(&error))?;
    let (difference, then) = worked_out
        .map_err(|unknown: reeve_core::what_if::Unknown| Problem::not_found().detail(unknown.to_string()))?;
    Ok(axum::Json(view(&app.store, &caller.actor, now, &submitted, &difference, &then).await?))
}
