//! What an escalation does when it becomes active. Raises and exceptions are read by the planner from the active rows
//! themselves; a quota is changed, and what it was is kept for the end; a budget gets an exception.

use super::change::{self, Mark};
use super::cover;
use super::row::EscalationRow;
use crate::budgets::{self, NewException};
use crate::error::StoreError;
use crate::quotas::{self, QuotaTerms};
use crate::write_tx::WriteTx;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::approval::{Act, AsksFor, Case};
use reeve_core::id::{PoolId, TeamId};
use reeve_core::quota::{GuaranteeFault, check_guarantee};
use uuid::Uuid;

/// Why it cannot be put in force now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EffectFault {
    #[error(transparent)]
    Guarantee(#[from] GuaranteeFault),
    #[error("the job has ended")]
    JobEnded,
    #[error("the budget is gone")]
    BudgetGone,
}

/// Puts an approved one in force, unless it begins later.
///
/// # Errors
/// As the store's.
pub async fn activate_if_due(
    tx: &mut WriteTx,
    row: EscalationRow,
) -> Result<Result<EscalationRow, EffectFault>, StoreError> {
    if row.starts_at.is_some_and(|begins| begins > tx.now()) {
        return Ok(Ok(row));
    }
    let after = row.case()?.after(Act::Activate).map_err(|_| StoreError::Conflict)?;
    put_in_force(tx, &row, &after).await
}

/// Makes it active, with its effect.
///
/// # Errors
/// [`StoreError::Conflict`] when it was moved meanwhile.
pub(super) async fn put_in_force(
    tx: &mut WriteTx,
    row: &EscalationRow,
    after: &Case,
) -> Result<Result<EscalationRow, EffectFault>, StoreError> {
    if cover::job_has_ended(tx, row).await? {
        return Ok(Err(EffectFault::JobEnded));
    }
    if row.asks_for()? == AsksFor::Quota
        && let Err(fault) = change_quota(tx, row, after).await?
    {
        return Ok(Err(fault.into()));
    }
    let at = row.starts_at.unwrap_or(tx.now());
    if let Some(budget) = row.budget_id
        && !except(tx, row, budget, after, at).await?
    {
        return Ok(Err(EffectFault::BudgetGone));
    }
    let mark = Mark { at: Some(at), ..Mark::default() };
    let row = change::to(tx, row, after, mark, "escalation.activated").await?;
    take_effect(tx, &row, at).await?;
    Ok(Ok(row))
}

/// The planner looks again, and the ledger tells the new class from the old one.
pub(super) async fn take_effect(
    tx: &mut WriteTx,
    row: &EscalationRow,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    if row.asks_for()? == AsksFor::Priority {
        cover::settle_ledger(tx, row, at).await?;
    }
    tx.wake_schedule();
    Ok(())
}

/// Grants the exception, if the budget is still there.
async fn except(
    tx: &mut WriteTx,
    row: &EscalationRow,
    budget: Uuid,
    after: &Case,
    at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let budget = match budgets::lock(tx, budget).await {
        Err(StoreError::NotFound) => return Ok(false),
        found => found?,
    };
    let lasts = after.granted.duration_secs.ok_or(StoreError::Conflict)?;
    let exception = NewException {
        budget_id: budget.standing.id,
        team: budget.standing.team,
        until: at + TimeDelta::seconds(lasts),
        extra_micros: after.granted.extra_micros,
        reason: &row.reason,
        granted_by: after.approved_by.last().copied(),
        escalation_id: Some(row.id),
    };
    budgets::grant_exception(tx, &exception).await?;
    Ok(true)
}

async fn change_quota(
    tx: &mut WriteTx,
    row: &EscalationRow,
    after: &Case,
) -> Result<Result<(), GuaranteeFault>, StoreError> {
    let Some((team, pool)) = place(row) else { return Err(StoreError::NotFound) };
    let standing = quotas::standing(tx, team, pool).await?;
    let before = quotas::lock(tx, team, pool).await?;
    let guaranteed_gpus = after.granted.guaranteed_gpus.unwrap_or_default();
    if let Err(fault) = check_guarantee(guaranteed_gpus.into(), &standing) {
        return Ok(Err(fault));
    }
    let known = before.as_ref().map(quotas::terms_of);
    let terms = QuotaTerms {
        guaranteed_gpus,
        borrow_limit_gpus: after
            .granted
            .borrow_limit_gpus
            .or_else(|| known.and_then(|known| known.borrow_limit_gpus)),
        lend_limit_gpus: known.and_then(|known| known.lend_limit_gpus),
        weight: known.map_or(1, |known| known.weight),
        drain: false,
    };
    quotas::put(tx, team, pool, before.as_ref(), terms).await?;
    let kept = serde_json::to_value(Kept { before: known, set: terms })?;
    sqlx::query!("update escalations set quota_before = $2 where id = $1", row.id, kept)
        .execute(tx.connection())
        .await?;
    Ok(Ok(()))
}

/// What a quota was, and what it became.
#[derive(Debug, Clone, Copy, serde::Serialize, serde::Deserialize)]
pub(super) struct Kept {
    pub(super) before: Option<QuotaTerms>,
    pub(super) set: QuotaTerms,
}

pub(super) fn place(row: &EscalationRow) -> Option<(TeamId, PoolId)> {
    Some((row.team(), PoolId(row.pool_id?)))
}
