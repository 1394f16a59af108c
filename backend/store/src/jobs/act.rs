//! What people do to a job: cancel, hold, release, requeue.
//!
//! A placed job is asked to leave; its GPUs are neither free nor offered until the agents confirm. How a leaving
//! run then ends is decided where reports are handled, from its `leave_cause`.

use super::row::JobRow;
use crate::error::StoreError;
use crate::release;
use crate::schedule::apply::bump;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::{JobId, NodeId};
use serde_json::json;

/// Locks a job, so that what is read of it afterwards stays true until the commit.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn lock(tx: &mut WriteTx, id: JobId) -> Result<(), StoreError> {
    sqlx::query!("select id from jobs where id = $1 for update", id.0).fetch_one(tx.connection()).await?;
    Ok(())
}

/// Ends a queued job.
///
/// # Errors
/// [`StoreError::Conflict`] when it is not queued any more.
pub async fn cancel_queued(tx: &mut WriteTx, job: &JobRow, why: Option<&str>) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update jobs set state = 'cancelled', finished_at = $2, end_cause = 'cancelled', end_detail = $3,
           reason_code = null, reason = null, reason_at = null, reason_hash = null, held = false, waits_for_jobs = false,
           version = version + 1,
           updated_at = $2
         where id = $1 and state = 'queued'",
        job.id,
        now,
        why
    )
    .execute(tx.connection())
    .await?;
    expect_one(done.rows_affected())?;
    tx.record(event(job, "job.cancelled").detail(json!({"reason": why})));
    tx.wake_schedule();
    Ok(())
}

/// How a placed job is told to go.
#[derive(Debug, Clone, Copy)]
pub struct LeaveOrder<'a> {
    /// `cancelled` or `operator`.
    pub cause: &'a str,
    /// `leave`: checkpoint first; `stop`: at once.
    pub stop_order: &'a str,
    pub leave_by: DateTime<Utc>,
    pub action: &'static str,
    pub why: Option<&'a str>,
}

/// Tells a placed job to go. A job that is leaving already takes the new cause.
///
/// # Errors
/// [`StoreError::Conflict`] when it is not placed any more.
pub async fn leave(tx: &mut WriteTx, job: &JobRow, order: &LeaveOrder<'_>) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update jobs set state = 'leaving', version = version + 1, updated_at = $2
         where id = $1 and state in ('starting', 'running', 'leaving')",
        job.id,
        now
    )
    .execute(tx.connection())
    .await?;
    expect_one(done.rows_affected())?;
    let runs = sqlx::query_scalar!(
        "update runs set state = 'leaving', leave_cause = $2, leave_by = least(coalesce(leave_by, $3), $3),
                         end_detail = $4
         where job_id = $1 and ended_at is null returning id",
        job.id,
        order.cause,
        order.leave_by,
        order.why
    )
    .fetch_all(tx.connection())
    .await?;
    let nodes = sqlx::query_scalar!(
        "update members set stop_order = $2, stop_cause = $3, leave_by = least(coalesce(leave_by, $4), $4),
           state = case when state = 'running' then 'leaving' else state end
         where job_id = $1 and state <> 'ended' returning node_id",
        job.id,
        order.stop_order,
        order.cause,
        order.leave_by
    )
    .fetch_all(tx.connection())
    .await?;
    bump(tx.connection(), &nodes).await?;
    // Members that finished held their GPUs for the gang's sake; a leaving gang needs them no more.
    release::release_ended(tx.connection(), &runs, now).await?;
    tx.record(event(job, order.action).detail(json!({
        "reason": order.why, "cause": order.cause, "leave_by": order.leave_by,
    })));
    tx.wake_nodes(nodes.into_iter().map(NodeId));
    tx.wake_schedule();
    Ok(())
}

/// Keeps a queued job from starting, or lets it start again.
///
/// # Errors
/// [`StoreError::Conflict`] when it is not queued any more.
pub async fn set_held(tx: &mut WriteTx, job: &JobRow, held: bool) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update jobs set held = $2, version = version + 1, updated_at = $3 where id = $1 and state = 'queued'",
        job.id,
        held,
        now
    )
    .execute(tx.connection())
    .await?;
    expect_one(done.rows_affected())?;
    tx.record(
        event(job, if held { "job.held" } else { "job.released" })
            .before(json!({"held": job.held}))
            .after(json!({"held": held})),
    );
    tx.wake_schedule();
    Ok(())
}

/// Puts an ended job in line again, with its original age.
///
/// # Errors
/// [`StoreError::Conflict`] when it has not ended.
pub async fn requeue_ended(tx: &mut WriteTx, job: &JobRow) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update jobs set state = 'queued', finished_at = null, end_cause = null, end_detail = null,
           failure_count = 0, version = version + 1, updated_at = $2
         where id = $1 and state in ('succeeded', 'failed', 'cancelled')",
        job.id,
        now
    )
    .execute(tx.connection())
    .await?;
    expect_one(done.rows_affected())?;
    tx.record(
        event(job, "job.requeued")
            .before(json!({"state": job.state, "end_cause": job.end_cause}))
            .after(json!({"state": "queued"})),
    );
    tx.wake_schedule();
    Ok(())
}

fn event(job: &JobRow, action: &'static str) -> NewEvent {
    NewEvent::new(action, "job", job.id).team(job.team())
}

const fn expect_one(rows: u64) -> Result<(), StoreError> {
    if rows == 1 { Ok(()) } else { Err(StoreError::Conflict) }
}
