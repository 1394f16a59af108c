//! What time does to escalations: they begin, end, time out, and reviews fall due. Each is one transaction of its own, and
//! whoever comes second finds nothing to do: any number of servers may look.

use super::end;
use super::row::EscalationRow;
use super::{change, effect, show};
use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{WriteContext, WriteTx};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::approval::{Act, EscalationState};
use reeve_core::id::EscalationId;
use serde_json::json;
use uuid::Uuid;

const JOB_ENDED: &str = "the job has ended";
const UNDECIDED: &str = "nobody decided in time";

/// Those for which the time has come, at most `limit`. `chase_every`: a review that is due is asked for as often.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    now: DateTime<Utc>,
    chase_every: TimeDelta,
    limit: i64,
) -> Result<Vec<Uuid>, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"select e.id as "id!" from escalations e
         where e.state in ('in_review', 'approved', 'active')
           and (e.state = 'in_review' and e.decide_by <= $1
                or e.state = 'approved' and coalesce(e.starts_at, e.approved_at) <= $1
                or e.state = 'active' and e.expires_at <= $1
                or exists (select from jobs j
                           where j.id = e.job_id and j.state in ('succeeded', 'failed', 'cancelled')))
         union
         select e.id from escalations e
         where e.break_glass and e.reviewed_at is null and e.review_due_at <= $1
           and (e.review_chased_at is null or e.review_chased_at <= $2)
         limit $3"#,
        now,
        now - chase_every,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// Does to one what its time asks for. False: somebody else has it, or it is not due any more.
///
/// # Errors
/// As the store's.
pub async fn step(
    store: &Store,
    context: &WriteContext,
    id: Uuid,
    chase_every: TimeDelta,
) -> Result<bool, StoreError> {
    let mut tx = store.begin(context.clone()).await?;
    let locked = sqlx::query_scalar!("select id from escalations where id = $1 for update skip locked", id)
        .fetch_optional(tx.connection())
        .await?;
    if locked.is_none() {
        tx.rollback().await?;
        return Ok(false);
    }
    let row = show::get_in(&mut tx, EscalationId(id)).await?;
    if act(&mut tx, &row, chase_every).await? {
        tx.commit().await?;
        return Ok(true);
    }
    tx.rollback().await?;
    Ok(false)
}

async fn act(tx: &mut WriteTx, row: &EscalationRow, chase_every: TimeDelta) -> Result<bool, StoreError> {
    let now = tx.now();
    let (case, state) = (row.case()?, row.state()?);
    let ended = super::cover::job_has_ended(tx, row).await?;
    let (act, note) = match state {
        EscalationState::InReview if ended => (Act::TimeOut, Some(JOB_ENDED)),
        EscalationState::InReview if row.decide_by <= now => (Act::TimeOut, Some(UNDECIDED)),
        EscalationState::Approved | EscalationState::Active if ended => (Act::Expire, Some(JOB_ENDED)),
        EscalationState::Active if row.expires_at.is_some_and(|end| end <= now) => (Act::Expire, None),
        EscalationState::Approved if row.starts_at.or(row.approved_at).is_some_and(|begin| begin <= now) => {
            return begin(tx, row).await;
        }
        _ => return chase(tx, row, chase_every).await,
    };
    let after = case.after(act).map_err(|_| StoreError::Conflict)?;
    end::out_of_force(tx, row, &after, None, note).await?;
    Ok(true)
}

/// Begins it; what cannot begin is over.
async fn begin(tx: &mut WriteTx, row: &EscalationRow) -> Result<bool, StoreError> {
    if let Err(fault) = effect::activate_if_due(tx, row.clone()).await? {
        let after = row.case()?.after(Act::Expire).map_err(|_| StoreError::Conflict)?;
        let note = format!("it could not begin: {fault}");
        end::out_of_force(tx, row, &after, None, Some(&note)).await?;
    }
    Ok(true)
}

/// Asks for a review that is due.
async fn chase(tx: &mut WriteTx, row: &EscalationRow, every: TimeDelta) -> Result<bool, StoreError> {
    let now = tx.now();
    let chased = sqlx::query!(
        "update escalations set review_chased_at = $2 where id = $1 and break_glass and reviewed_at is null
           and review_due_at <= $2 and (review_chased_at is null or review_chased_at <= $3)",
        row.id,
        now,
        now - every
    )
    .execute(tx.connection())
    .await?;
    if chased.rows_affected() == 1 {
        tx.record(
            change::event(row, "escalation.review_overdue")
                .after(json!({"review_due_at": row.review_due_at, "requested_by": row.username})),
        );
    }
    Ok(chased.rows_affected() == 1)
}
