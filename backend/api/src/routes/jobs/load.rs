//! A job that the caller may see, or act on.

use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use reeve_core::access::{Action, Resource};
use reeve_core::id::JobId;
use reeve_store::WriteTx;
use reeve_store::jobs::row::JobRow;
use reeve_store::jobs::{act, show};

/// What `may()` is asked about for a job.
pub(super) const fn resource(job: &JobRow) -> Resource {
    Resource::Job { team: job.team(), owner: job.owner() }
}

/// Reads a job for an action; 404 for what the caller may not know exists.
pub(super) async fn load(app: &AppState, caller: &Caller, id: &str, action: Action) -> Result<JobRow> {
    let id: JobId = id.parse().map_err(|_| Problem::not_found())?;
    let job = show::get(&app.store, id).await?;
    app.allow(caller, action, &resource(&job)).await?;
    Ok(job)
}

/// The same, locked in a transaction: what is decided on stays true until the commit.
pub(super) async fn lock(
    app: &AppState,
    caller: &Caller,
    id: &str,
    action: Action,
) -> Result<(WriteTx, JobRow)> {
    let id = load(app, caller, id, action).await?.job_id();
    let mut tx = app.begin(caller).await?;
    act::lock(&mut tx, id).await?;
    let job = show::get_in(&mut tx, id).await?;
    Ok((tx, job))
}
