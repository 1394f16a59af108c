//! Plans today's world and the imagined one, off the request's thread. One at a time: each takes a core for as long as a
//! few plans take.

use crate::app::AppState;
use crate::problem::{Code, Problem, Result};
use chrono::{DateTime, Utc};
use reeve_core::what_if::{Change, Difference, Settled, Unknown, difference, imagine, settle};
use reeve_store::schedule::look::look;
use std::time::Duration;

/// Longest that a question waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// What differs once the changes are made, and the world in which they are.
pub(crate) async fn work_out(
    app: &AppState,
    now: DateTime<Utc>,
    changes: Vec<Change>,
) -> Result<(Difference, Settled)> {
    let turn = tokio::time::timeout(PATIENCE, app.what_if.clone().acquire_owned()).await;
    let Ok(Ok(_turn)) = turn else {
        return Err(Problem::new(Code::RateLimited)
            .detail("other questions are being worked out: repeat in a moment"));
    };
    let snapshot = look(&app.store, now).await?;
    let worked_out = tokio::task::spawn_blocking(move || {
        let then = settle(imagine(&snapshot, changes)?);
        let today = settle(snapshot);
        Ok((difference(&today, &then), then))
    });
    let worked_out = worked_out.await.map_err(|error| Problem::internal(&error))?;
    worked_out.map_err(|unknown: Unknown| Problem::not_found().detail(unknown.to_string()))
}
