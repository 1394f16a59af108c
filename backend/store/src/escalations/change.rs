//! From one state to the next: one guarded update, one event.

use super::row::EscalationRow;
use super::show;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::approval::{Case, EscalationState};
use reeve_core::id::{EscalationId, UserId};
use serde_json::json;

/// What a change leaves beside its state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark<'a> {
    pub(super) by: Option<UserId>,
    pub(super) note: Option<&'a str>,
    /// When it counts from; left out = now.
    pub(super) at: Option<DateTime<Utc>>,
}

impl<'a> Mark<'a> {
    pub(super) const fn ended(by: Option<UserId>, note: Option<&'a str>) -> Self {
        Self { by, note, at: None }
    }
}

/// An event about it, with what names it.
pub(super) fn event(row: &EscalationRow, action: &'static str) -> NewEvent {
    NewEvent::new(action, "escalation", row.id).team(row.team()).detail(json!({
        "asks_for": row.asks_for, "team": row.team_slug, "job_id": row.job_id, "job": row.job_name,
        "queue": row.queue_slug, "pool": row.pool_slug, "budget_id": row.budget_id, "scope": row.scope,
    }))
}

/// Moves it on, if it is still as `row` saw it.
///
/// # Errors
/// [`StoreError::Conflict`] when somebody else moved it.
pub(super) async fn to(
    tx: &mut WriteTx,
    row: &EscalationRow,
    after: &Case,
    mark: Mark<'_>,
    action: &'static str,
) -> Result<EscalationRow, StoreError> {
    let now = tx.now();
    let at = mark.at.unwrap_or(now);
    let state = after.state;
    let activated_at = row.activated_at.or((state == EscalationState::Active).then_some(at));
    let lasts = after.granted.duration_secs.map(TimeDelta::seconds);
    let expires_at = activated_at.zip(lasts).map(|(from, lasts)| from + lasts);
    let ended_at = row.ended_at.or(state.is_final().then_some(at));
    let granted = serde_json::to_value(after.granted)?;
    let done = sqlx::query!(
        "update escalations set state = $3, step = $4, steps = $5, granted = $6,
           approved_at = coalesce(approved_at, $7), activated_at = $8, expires_at = $9, ended_at = $10,
           ended_by = $11, end_note = $12, version = version + 1, updated_at = $13
         where id = $1 and version = $2",
        row.id,
        row.version,
        state.as_str(),
        i32::try_from(after.step).unwrap_or(i32::MAX),
        i32::try_from(after.steps).unwrap_or(i32::MAX),
        granted,
        (state == EscalationState::Approved).then_some(at),
        activated_at,
        expires_at,
        ended_at,
        mark.by.map(|user| user.0),
        mark.note,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    let told = show::get_in(tx, EscalationId(row.id)).await?;
    tx.record(
        event(&told, action)
            .rule(&row.rule)
            .before(json!({"state": row.state, "step": row.step, "granted": row.granted}))
            .after(json!({
                "state": told.state, "step": told.step, "granted": told.granted, "expires_at": told.expires_at,
                "note": told.end_note,
            })),
    );
    Ok(told)
}
