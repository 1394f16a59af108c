//! One escalation, its steps, and who sits at them.

use super::row::{EscalationRow, select_escalations};
use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::WriteTx;
use chrono::{DateTime, Utc};
use reeve_core::id::EscalationId;
use sqlx::PgConnection;
use uuid::Uuid;

/// One escalation.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn get(store: &Store, id: EscalationId) -> Result<EscalationRow, StoreError> {
    Ok(select_escalations!("where e.id = $1", id.0).fetch_one(store.pool()).await?)
}

/// One escalation as this transaction has left it.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn get_in(tx: &mut WriteTx, id: EscalationId) -> Result<EscalationRow, StoreError> {
    Ok(select_escalations!("where e.id = $1", id.0).fetch_one(tx.connection()).await?)
}

/// The same, locked: what is decided on stays true until the commit. Locks in the order escalation → team → job → gpu.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn lock(tx: &mut WriteTx, id: EscalationId) -> Result<EscalationRow, StoreError> {
    sqlx::query!("select id from escalations where id = $1 for update", id.0)
        .fetch_one(tx.connection())
        .await?;
    get_in(tx, id).await
}

/// A step.
#[derive(Debug, Clone)]
pub struct StepRow {
    pub escalation_id: Uuid,
    pub number: i32,
    pub decision: Option<String>,
    pub decided_by: Option<Uuid>,
    pub username: Option<String>,
    pub display_name: Option<String>,
    pub decided_at: Option<DateTime<Utc>>,
    pub comment: Option<String>,
    pub granted: Option<serde_json::Value>,
}

/// Who may decide a step (0 = the review): a role in a team, a role in the installation, or a person.
#[derive(Debug, Clone)]
pub struct SeatRow {
    pub escalation_id: Uuid,
    pub step: i32,
    pub role: Option<String>,
    pub team_id: Option<Uuid>,
    pub team_slug: Option<String>,
    pub team_name: Option<String>,
    pub platform_role: Option<String>,
    pub user_id: Option<Uuid>,
    pub username: Option<String>,
    pub display_name: Option<String>,
    pub delegated_by: Option<Uuid>,
    pub delegated_by_username: Option<String>,
    pub delegated_by_name: Option<String>,
}

/// Steps and seats of some escalations.
#[derive(Debug, Clone, Default)]
pub struct Company {
    pub steps: Vec<StepRow>,
    pub seats: Vec<SeatRow>,
}

/// Steps and seats, in their order.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn company(store: &Store, ids: &[Uuid]) -> Result<Company, StoreError> {
    load_company(&mut *store.pool().acquire().await?, ids).await
}

/// The same as this transaction has left them.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn company_in(tx: &mut WriteTx, ids: &[Uuid]) -> Result<Company, StoreError> {
    load_company(tx.connection(), ids).await
}

async fn load_company(connection: &mut PgConnection, ids: &[Uuid]) -> Result<Company, StoreError> {
    let steps = sqlx::query_as!(
        StepRow,
        r#"select s.escalation_id, s.number, s.decision, s.decided_by, u.username as "username?",
                  u.display_name as "display_name?", s.decided_at, s.comment, s.granted
           from escalation_steps s left join users u on u.id = s.decided_by
           where s.escalation_id = any($1) order by s.escalation_id, s.number"#,
        ids
    )
    .fetch_all(&mut *connection)
    .await?;
    let seats = sqlx::query_as!(
        SeatRow,
        r#"select s.escalation_id, s.step, s.role, s.team_id, t.slug as "team_slug?", t.name as "team_name?",
                  s.platform_role, s.user_id, u.username as "username?", u.display_name as "display_name?",
                  s.delegated_by, d.username as "delegated_by_username?", d.display_name as "delegated_by_name?"
           from escalation_seats s left join teams t on t.id = s.team_id
           left join users u on u.id = s.user_id left join users d on d.id = s.delegated_by
           where s.escalation_id = any($1) order by s.escalation_id, s.step, s.id"#,
        ids
    )
    .fetch_all(connection)
    .await?;
    Ok(Company { steps, seats })
}
