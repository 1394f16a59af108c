//! Keeps a new request, and sends it the way that its policy gives.

use super::change::{self, Mark};
use super::effect::{self, EffectFault};
use super::row::EscalationRow;
use super::show;
use crate::error::StoreError;
use crate::write_tx::WriteTx;
use chrono::{DateTime, Utc};
use reeve_core::access::{PlatformRole, Role};
use reeve_core::approval::{Act, AsksFor, EscalationState, Scope, Terms};
use reeve_core::id::{EscalationId, JobId, PoolId, QueueId, RowId, TeamId, UserId};
use reeve_core::kind::Kind;
use serde_json::json;
use uuid::Uuid;

/// A request.
#[derive(Debug, Clone)]
pub struct NewEscalation {
    pub asks_for: AsksFor,
    pub team: TeamId,
    pub job: Option<JobId>,
    pub queue: Option<QueueId>,
    pub kinds: Option<Vec<Kind>>,
    pub pool: Option<PoolId>,
    pub budget: Option<Uuid>,
    pub scope: Option<Scope>,
    pub asked: Terms,
    pub reason: String,
    pub requested_by: UserId,
    pub starts_at: Option<DateTime<Utc>>,
    pub decide_by: DateTime<Utc>,
    pub policy_version: i64,
    pub rule: String,
    pub gpu_milli: i64,
    pub renews: Option<EscalationId>,
    pub way: Way,
}

/// Which way it goes.
#[derive(Debug, Clone)]
pub enum Way {
    AutoApprove,
    Refuse {
        because: String,
    },
    /// Each step's seats.
    Steps(Vec<Vec<NewSeat>>),
    /// At once; whoever reviews it, and until when.
    BreakGlass {
        reviewers: Vec<NewSeat>,
        review_due_at: DateTime<Utc>,
    },
}

/// A seat by role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewSeat {
    Platform(PlatformRole),
    InTeam(Role, TeamId),
}

/// The index that lets one open request through for one thing.
pub const OPEN: &str = "escalations_open_key";

/// Keeps it and takes it as far as it goes by itself.
///
/// # Errors
/// [`StoreError::Duplicate`] with [`OPEN`] when another for the same thing is open.
pub async fn create(
    tx: &mut WriteTx,
    new: &NewEscalation,
) -> Result<Result<EscalationRow, EffectFault>, StoreError> {
    let id = insert(tx, new).await?;
    let row = show::get_in(tx, id).await?;
    tx.record(change::event(&row, "escalation.requested").rule(&new.rule).after(json!({
        "asked": row.asked, "scope": row.scope, "reason": row.reason, "starts_at": row.starts_at,
        "break_glass": row.break_glass, "renews": row.renews,
    })));
    let case = row.case()?;
    let act = match &new.way {
        Way::AutoApprove => Act::Route { steps: 0 },
        Way::Refuse { .. } => Act::Refuse,
        Way::Steps(steps) => Act::Route { steps: u32::try_from(steps.len()).unwrap_or(u32::MAX) },
        Way::BreakGlass { .. } => Act::BreakGlass,
    };
    let after = case.after(act).map_err(|_| StoreError::Conflict)?;
    let row = match &new.way {
        Way::Refuse { because } => {
            let mark = Mark::ended(None, Some(because));
            change::to(tx, &row, &after, mark, "escalation.denied").await?
        }
        Way::Steps(_) => change::to(tx, &row, &after, Mark::default(), "escalation.in_review").await?,
        Way::AutoApprove => change::to(tx, &row, &after, Mark::default(), "escalation.approved").await?,
        Way::BreakGlass { .. } => return effect::put_in_force(tx, &row, &after).await,
    };
    if row.state()? == EscalationState::Approved {
        effect::activate_if_due(tx, row).await
    } else {
        Ok(Ok(row))
    }
}

async fn insert(tx: &mut WriteTx, new: &NewEscalation) -> Result<EscalationId, StoreError> {
    let now = tx.now();
    let id = EscalationId::mint(now);
    let asked = serde_json::to_value(new.asked)?;
    let kinds: Option<Vec<String>> =
        new.kinds.as_ref().map(|kinds| kinds.iter().map(ToString::to_string).collect());
    let (steps, review_due_at): (Vec<(i32, &[NewSeat])>, _) = match &new.way {
        Way::Steps(steps) => {
            (steps.iter().zip(1..).map(|(step, number)| (number, step.as_slice())).collect(), None)
        }
        Way::BreakGlass { reviewers, review_due_at } => {
            (vec![(0, reviewers.as_slice())], Some(*review_due_at))
        }
        Way::AutoApprove | Way::Refuse { .. } => (Vec::new(), None),
    };
    sqlx::query!(
        "insert into escalations (id, asks_for, state, team_id, job_id, queue_id, kinds, pool_id, scope, asked, granted,
             reason, requested_by, requested_at, starts_at, decide_by, policy_version, rule, gpu_milli, renews,
             break_glass, review_due_at, budget_id, updated_at)
         values ($1, $2, 'requested', $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
             $20, $21, $12)",
        id.0,
        new.asks_for.as_str(),
        new.team.0,
        new.job.map(|id| id.0),
        new.queue.map(|id| id.0),
        kinds.as_deref(),
        new.pool.map(|id| id.0),
        new.scope.map(Scope::as_str),
        asked,
        new.reason,
        new.requested_by.0,
        now,
        new.starts_at,
        new.decide_by,
        new.policy_version,
        new.rule,
        new.gpu_milli,
        new.renews.map(|id| id.0),
        review_due_at.is_some(),
        review_due_at,
        new.budget
    )
    .execute(tx.connection())
    .await?;
    let numbers: Vec<i32> = steps.iter().map(|(number, _)| *number).filter(|&number| number > 0).collect();
    sqlx::query!(
        "insert into escalation_steps (escalation_id, number) select $1, unnest($2::integer[])",
        id.0,
        &numbers
    )
    .execute(tx.connection())
    .await?;
    seat(tx, id, &steps).await?;
    Ok(id)
}

async fn seat(tx: &mut WriteTx, id: EscalationId, steps: &[(i32, &[NewSeat])]) -> Result<(), StoreError> {
    let now = tx.now();
    let all: Vec<(i32, NewSeat)> =
        steps.iter().flat_map(|(number, seats)| seats.iter().map(|seat| (*number, *seat))).collect();
    // Ids of one moment are in no order: the policy's is theirs.
    let mut ids: Vec<Uuid> = all.iter().map(|_| RowId::mint(now).0).collect();
    ids.sort_unstable();
    let numbers: Vec<i32> = all.iter().map(|(number, _)| *number).collect();
    let platform: Vec<Option<String>> = all
        .iter()
        .map(|(_, seat)| match seat {
            NewSeat::Platform(role) => Some(role.to_string()),
            NewSeat::InTeam(..) => None,
        })
        .collect();
    let in_team = |seat: &NewSeat| match seat {
        NewSeat::InTeam(role, team) => Some((role.to_string(), team.0)),
        NewSeat::Platform(_) => None,
    };
    let roles: Vec<Option<String>> =
        all.iter().map(|(_, seat)| in_team(seat).map(|(role, _)| role)).collect();
    let teams: Vec<Option<Uuid>> = all.iter().map(|(_, seat)| in_team(seat).map(|(_, team)| team)).collect();
    sqlx::query!(
        "insert into escalation_seats (id, escalation_id, step, role, team_id, platform_role)
         select s.id, $1, s.step, s.role, s.team_id, s.platform_role
         from unnest($2::uuid[], $3::integer[], $4::text[], $5::uuid[], $6::text[])
           as s(id, step, role, team_id, platform_role)",
        id.0,
        &ids,
        &numbers,
        &roles as &[Option<String>],
        &teams as &[Option<Uuid>],
        &platform as &[Option<String>]
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
