//! Notices as they begin, go on and end. Each change is told in the same transaction.

use super::evidence::Running;
use super::list::{Notice as NoticeRow, select_notices};
use crate::connect::Store;
use crate::error::StoreError;
use crate::jobs::act::{self, LeaveOrder};
use crate::jobs::show;
use crate::write_tx::{NewEvent, WriteContext, WriteTx};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::{JobId, RowId, UserId};
use reeve_core::idle::{Coverage, IdleAction, Notice};
use reeve_core::text_enum;
use serde_json::json;
use uuid::Uuid;

text_enum! {
    /// Why a notice is over.
    CloseReason {
        /// The job computed again.
        Computes = "computes",
        /// Its run ended, or was told to go.
        Ended = "ended",
        /// Its rule looks no more.
        RuleOff = "rule_off",
    }
}

/// One at a time over all servers: `None` = another is at it.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn begin(store: &Store, context: WriteContext) -> Result<Option<WriteTx>, StoreError> {
    let mut tx = store.begin(context).await?;
    let alone =
        sqlx::query_scalar!(r#"select pg_try_advisory_xact_lock(hashtextextended('idle', 0)) as "alone!""#)
            .fetch_one(tx.connection())
            .await?;
    if alone {
        return Ok(Some(tx));
    }
    tx.rollback().await?;
    Ok(None)
}

/// What the owner is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    pub idle_since: DateTime<Utc>,
    pub window_secs: i64,
    pub coverage: Coverage,
    pub busy_above_permille: u32,
    pub action: IdleAction,
    pub protected: bool,
    pub act_at: DateTime<Utc>,
}

/// Tells the job's owner that its GPUs compute nothing.
///
/// # Errors
/// [`StoreError::Duplicate`] when it was told meanwhile.
pub async fn notify(tx: &mut WriteTx, job: &Running, evidence: &Evidence) -> Result<(), StoreError> {
    let now = tx.now();
    let id = RowId::mint(now).0;
    let samples = i64::try_from(evidence.coverage.samples).unwrap_or(i64::MAX);
    let expected = i64::try_from(evidence.coverage.expected).unwrap_or(i64::MAX);
    sqlx::query!(
        "insert into idle_notices (id, job_id, run_number, team_id, state, action, protected, idle_since, window_secs,
            samples, expected, busy_above_permille, gpu_milli, notified_at, act_at)
         values ($1, $2, $3, $4, 'notified', $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
        id,
        job.job.0,
        job.run_number,
        job.team.0,
        evidence.action.as_str(),
        evidence.protected,
        evidence.idle_since,
        evidence.window_secs,
        samples,
        expected,
        i32::try_from(evidence.busy_above_permille).unwrap_or(i32::MAX),
        job.gpu_milli,
        now,
        evidence.act_at
    )
    .execute(tx.connection())
    .await?;
    tx.record(event(job, "job.idle").after(json!({
        "idle_notice_id": id, "state": "notified", "run_number": job.run_number, "action": evidence.action,
        "act_at": evidence.act_at, "protected": evidence.protected,
    })).detail(json!({
        "idle_since": evidence.idle_since, "window_secs": evidence.window_secs, "samples": samples,
        "expected": expected, "busy_above_permille": evidence.busy_above_permille,
        "gpus": reeve_core::units::MilliGpu(job.gpu_milli).as_gpus(),
    })));
    Ok(())
}

/// From now on it is the first to leave when others need GPUs.
///
/// # Errors
/// [`StoreError::Conflict`] when the notice is not any more what was seen.
pub async fn make_reclaimable(tx: &mut WriteTx, job: &Running, id: Uuid) -> Result<(), StoreError> {
    acted(tx, id, "reclaimable", IdleAction::Reclaimable).await?;
    tx.record(
        event(job, "job.flagged_idle")
            .before(json!({"state": "notified"}))
            .after(json!({"idle_notice_id": id, "state": "reclaimable", "run_number": job.run_number})),
    );
    tx.wake_schedule();
    Ok(())
}

/// Asks it to save its work and to go. It does not come back in line: it would sit idle again.
///
/// # Errors
/// [`StoreError::Conflict`] when the notice or the job is not any more what was seen.
pub async fn stop(tx: &mut WriteTx, job: &Running, id: Uuid, grace: TimeDelta) -> Result<(), StoreError> {
    act::lock(tx, job.job).await?;
    acted(tx, id, "stopped", IdleAction::Stop).await?;
    let row = show::get_in(tx, job.job).await?;
    let order = LeaveOrder {
        cause: "idle",
        stop_order: "leave",
        leave_by: tx.now() + grace,
        action: "job.stopped_idle",
        why: Some("its GPUs computed nothing, and its idle rule stops such jobs"),
    };
    act::leave(tx, &row, &order).await
}

async fn acted(tx: &mut WriteTx, id: Uuid, state: &str, action: IdleAction) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update idle_notices set state = $2, action = $3, acted_at = $4, version = version + 1
         where id = $1 and state = 'notified' and closed_at is null and act_at <= $4",
        id,
        state,
        action.as_str(),
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() == 1 { Ok(()) } else { Err(StoreError::Conflict) }
}

/// Ends the notice; the next one begins from the start.
///
/// # Errors
/// [`StoreError::Conflict`] when it has ended already.
pub async fn rearm(tx: &mut WriteTx, job: &Running, id: Uuid, why: CloseReason) -> Result<(), StoreError> {
    let now = tx.now();
    let before = sqlx::query_scalar!(
        "update idle_notices n set state = 'closed', closed_at = $2, close_reason = $3, version = n.version + 1
         from idle_notices o where n.id = $1 and o.id = n.id and n.closed_at is null returning o.state",
        id,
        now,
        why.as_str()
    )
    .fetch_optional(tx.connection())
    .await?
    .ok_or(StoreError::Conflict)?;
    if before == "reclaimable" {
        tx.wake_schedule();
    }
    tx.record(
        event(job, "job.idle_over")
            .before(json!({"state": before}))
            .after(json!({"idle_notice_id": id, "state": "closed", "reason": why})),
    );
    Ok(())
}

/// Ends the notices of runs that do not run any more. One that was stopped stays that in its history.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn close_ended(tx: &mut WriteTx) -> Result<usize, StoreError> {
    let now = tx.now();
    let rows = sqlx::query!(
        "update idle_notices n set closed_at = $1, close_reason = 'ended', version = n.version + 1,
                state = case n.state when 'stopped' then 'stopped' else 'closed' end
         where n.closed_at is null and not exists (
             select from runs r where r.job_id = n.job_id and r.number = n.run_number and r.ended_at is null
               and (r.state in ('starting', 'running') or n.state = 'stopped'))
         returning n.id, n.job_id, n.team_id, n.state",
        now
    )
    .fetch_all(tx.connection())
    .await?;
    for row in &rows {
        tx.record(
            NewEvent::new("job.idle_over", "job", row.job_id)
                .team(Some(row.team_id.into()))
                .after(json!({"idle_notice_id": row.id, "state": row.state, "reason": CloseReason::Ended})),
        );
    }
    Ok(rows.len())
}

/// The open notice of a job, locked.
///
/// # Errors
/// [`StoreError::NotFound`] when it has none.
pub async fn open_of(tx: &mut WriteTx, job: JobId) -> Result<NoticeRow, StoreError> {
    sqlx::query!("select id from idle_notices where job_id = $1 and closed_at is null for update", job.0)
        .fetch_optional(tx.connection())
        .await?
        .ok_or(StoreError::NotFound)?;
    Ok(select_notices!("where n.job_id = $1 and n.closed_at is null", job.0)
        .fetch_one(tx.connection())
        .await?)
}

/// Puts the act off, as `reeve_core::idle::snooze` has allowed.
///
/// # Errors
/// [`StoreError::Conflict`] when the notice is not any more what was seen.
pub async fn snooze(
    tx: &mut WriteTx,
    row: &NoticeRow,
    after: &Notice,
    by: UserId,
    why: Option<&str>,
) -> Result<(), StoreError> {
    let done = sqlx::query!(
        "update idle_notices set act_at = $2, snoozed_secs = $3, snoozed_by = $4, version = version + 1
         where id = $1 and version = $5 and state = 'notified' and closed_at is null",
        row.id,
        after.act_at,
        after.snoozed_secs,
        by.0,
        row.version
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    tx.record(
        NewEvent::new("job.idle_snoozed", "job", row.job_id)
            .team(Some(row.team_id.into()))
            .before(json!({"act_at": row.act_at, "snoozed_secs": row.snoozed_secs}))
            .after(
                json!({"idle_notice_id": row.id, "act_at": after.act_at, "snoozed_secs": after.snoozed_secs}),
            )
            .detail(json!({"reason": why})),
    );
    Ok(())
}

fn event(job: &Running, action: &'static str) -> NewEvent {
    NewEvent::new(action, "job", job.job.0).team(job.team)
}
