//! What the people of a step do: approve, deny, hand over; and the review of an emergency.

use super::change::{self, Mark};
use super::effect::{self, EffectFault};
use super::row::EscalationRow;
use super::show;
use crate::error::StoreError;
use crate::write_tx::WriteTx;
use reeve_core::approval::{Act, Case, EscalationState, ReviewOutcome, StepDecision};
use reeve_core::id::{EscalationId, RowId, UserId};
use serde_json::json;

/// A decision of somebody who may make it.
#[derive(Debug, Clone, Copy)]
pub struct Decision<'a> {
    pub by: UserId,
    pub comment: Option<&'a str>,
}

/// Approves the current step: `after` is the case with it. With the last step it is put in force at once, unless it
/// begins later.
///
/// # Errors
/// [`StoreError::Conflict`] when it was moved meanwhile; [`StoreError::Duplicate`] for a second step by one person.
pub async fn approve(
    tx: &mut WriteTx,
    row: &EscalationRow,
    after: &Case,
    decision: Decision<'_>,
) -> Result<Result<EscalationRow, EffectFault>, StoreError> {
    let granted = serde_json::to_value(after.granted)?;
    settle_step(tx, row, StepDecision::Approved, decision, Some(granted)).await?;
    let last = after.state == EscalationState::Approved;
    let action = if last { "escalation.approved" } else { "escalation.step_approved" };
    let row = change::to(tx, row, after, Mark::default(), action).await?;
    if last { effect::activate_if_due(tx, row).await } else { Ok(Ok(row)) }
}

/// Denies it.
///
/// # Errors
/// As [`approve`].
pub async fn deny(
    tx: &mut WriteTx,
    row: &EscalationRow,
    after: &Case,
    decision: Decision<'_>,
) -> Result<EscalationRow, StoreError> {
    settle_step(tx, row, StepDecision::Denied, decision, None).await?;
    let mark = Mark::ended(Some(decision.by), decision.comment);
    change::to(tx, row, after, mark, "escalation.denied").await
}

async fn settle_step(
    tx: &mut WriteTx,
    row: &EscalationRow,
    what: StepDecision,
    decision: Decision<'_>,
    granted: Option<serde_json::Value>,
) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update escalation_steps set decision = $3, decided_by = $4, decided_at = $5, comment = $6, granted = $7
         where escalation_id = $1 and number = $2 and decision is null",
        row.id,
        row.step,
        what.as_str(),
        decision.by.0,
        now,
        decision.comment,
        granted
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() == 1 { Ok(()) } else { Err(StoreError::Conflict) }
}

/// Hands the current step to a person, who may decide it as long as `by` might.
///
/// # Errors
/// [`StoreError::Duplicate`] when that person has it already.
pub async fn delegate(
    tx: &mut WriteTx,
    row: &EscalationRow,
    by: UserId,
    to: (UserId, &str),
    comment: Option<&str>,
) -> Result<EscalationRow, StoreError> {
    let now = tx.now();
    sqlx::query!(
        "insert into escalation_seats (id, escalation_id, step, user_id, delegated_by) values ($1, $2, $3, $4, $5)",
        RowId::mint(now).0,
        row.id,
        row.step,
        to.0.0,
        by.0
    )
    .execute(tx.connection())
    .await?;
    tx.record(change::event(row, "escalation.delegated").after(json!({
        "step": row.step, "to": to.1, "to_id": to.0, "comment": comment,
    })));
    show::get_in(tx, EscalationId(row.id)).await
}

/// Keeps the review of an emergency; what was objected to and is still active ends.
///
/// # Errors
/// [`StoreError::Conflict`] when somebody else was faster.
pub async fn review(
    tx: &mut WriteTx,
    row: &EscalationRow,
    outcome: ReviewOutcome,
    decision: Decision<'_>,
) -> Result<EscalationRow, StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update escalations set reviewed_at = $2, reviewed_by = $3, review_outcome = $4, review_comment = $5,
           version = version + 1, updated_at = $2
         where id = $1 and version = $6 and break_glass and reviewed_at is null",
        row.id,
        now,
        decision.by.0,
        outcome.as_str(),
        decision.comment,
        row.version
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    tx.record(
        change::event(row, "escalation.reviewed")
            .after(json!({"outcome": outcome, "comment": decision.comment})),
    );
    let row = show::get_in(tx, EscalationId(row.id)).await?;
    match (outcome, row.case()?.after(Act::Revoke)) {
        (ReviewOutcome::Objected, Ok(after)) => {
            super::end::out_of_force(tx, &row, &after, Some(decision.by), decision.comment).await
        }
        _ => Ok(row),
    }
}
