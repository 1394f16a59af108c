//! How an escalation ends. A running job runs on: what was raised is simply not raised any more.

use super::change::{self, Mark};
use super::effect::{Kept, place, take_effect};
use super::row::EscalationRow;
use crate::budgets;
use crate::error::StoreError;
use crate::quotas;
use crate::write_tx::WriteTx;
use chrono::{DateTime, Utc};
use reeve_core::approval::{AsksFor, Case, EscalationState};
use reeve_core::id::UserId;
use reeve_core::quota::check_guarantee;

/// Ends it where `after` says, with a note; what was in force is undone.
///
/// # Errors
/// [`StoreError::Conflict`] when it was moved meanwhile.
pub async fn out_of_force(
    tx: &mut WriteTx,
    row: &EscalationRow,
    after: &Case,
    by: Option<UserId>,
    note: Option<&str>,
) -> Result<EscalationRow, StoreError> {
    let was_active = row.state()? == EscalationState::Active;
    // Whoever comes late still ends it at its time.
    let now = tx.now();
    let by_time = after.state == EscalationState::Expired && row.expires_at.is_some_and(|end| end <= now);
    let at: DateTime<Utc> = row.expires_at.filter(|_| by_time).unwrap_or(now);
    let left = if was_active { restore(tx, row).await? } else { None };
    let note = note.or(left);
    let mark = Mark { by, note, at: Some(at) };
    let ended = change::to(tx, row, after, mark, action(after.state)).await?;
    if was_active {
        if row.budget_id.is_some() {
            budgets::end_exception_of(tx, row.id, at).await?;
        }
        take_effect(tx, &ended, at).await?;
    }
    Ok(ended)
}

const fn action(state: EscalationState) -> &'static str {
    match state {
        EscalationState::Expired => "escalation.expired",
        EscalationState::Revoked => "escalation.revoked",
        EscalationState::Withdrawn => "escalation.withdrawn",
        EscalationState::TimedOut => "escalation.timed_out",
        _ => "escalation.denied",
    }
}

/// Puts a quota back as it was, if nobody changed it since; otherwise says why it stays.
async fn restore(tx: &mut WriteTx, row: &EscalationRow) -> Result<Option<&'static str>, StoreError> {
    let (AsksFor::Quota, Some(kept), Some((team, pool))) = (row.asks_for()?, &row.quota_before, place(row))
    else {
        return Ok(None);
    };
    let kept: Kept = serde_json::from_value(kept.clone())?;
    let standing = match quotas::standing(tx, team, pool).await {
        Err(StoreError::NotFound) => return Ok(Some("the team is gone, and its quota with it")),
        found => found?,
    };
    let Some(quota) = quotas::lock(tx, team, pool).await?.filter(|quota| quotas::terms_of(quota) == kept.set)
    else {
        return Ok(Some("the quota was changed meanwhile: it stays as it is"));
    };
    let gpus = kept.before.map_or(0, |before| before.guaranteed_gpus);
    if check_guarantee(gpus.into(), &standing).is_err() {
        return Ok(Some("the quota stays: the tree has grown around it"));
    }
    match kept.before {
        Some(before) => drop(quotas::put(tx, team, pool, Some(&quota), before).await?),
        None => quotas::delete(tx, &quota).await?,
    }
    Ok(None)
}
