//! `POST /what-if`.

use super::body::AskWhatIf;
use super::changes::changes;
use super::view::{WhatIfView, view};
use super::work_out::work_out;
use crate::app::AppState;
use crate::extract::{Caller, Json};
use crate::problem::{Fields, Result};
use axum::extract::State;
use reeve_core::access::{Action, Resource};

const MOST_CHANGES: usize = 100;

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
    let submitted = imagined.submitted;
    let (difference, then) = work_out(&app, now, imagined.changes).await?;
    Ok(axum::Json(view(&app.store, &caller.actor, now, &submitted, &difference, &then).await?))
}
