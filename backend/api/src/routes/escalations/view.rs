//! An escalation as JSON.

use crate::refs::{JobRef, PoolRef, QueueRef, TeamRef, UserRef};
use chrono::{DateTime, Utc};
use reeve_core::approval::{By, Case, Refusal, Terms};
use reeve_core::money::decimal::{MICRO_DIGITS, format};
use reeve_store::StoreError;
use reeve_store::escalations::row::EscalationRow;
use reeve_store::escalations::show::{Company, SeatRow, StepRow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct EscalationView {
    pub(crate) id: Uuid,
    pub(crate) asks_for: String,
    pub(crate) state: String,
    pub(crate) team: TeamRef,
    /// Only this job; null = the team's.
    pub(crate) job: Option<JobRef>,
    pub(crate) queue: Option<QueueRef>,
    pub(crate) kinds: Option<Vec<String>>,
    pub(crate) pool: Option<PoolRef>,
    /// The budget to be exceeded.
    pub(crate) budget: Option<ExceededBudget>,
    /// `team`: it counts among the team's own jobs only; `platform`: against everybody.
    pub(crate) scope: Option<String>,
    pub(crate) asked: TermsView,
    /// What approvers have left of it so far.
    pub(crate) granted: TermsView,
    pub(crate) reason: String,
    pub(crate) requested_by: UserRef,
    pub(crate) requested_at: DateTime<Utc>,
    /// Null = as soon as it is approved.
    pub(crate) starts_at: Option<DateTime<Utc>>,
    /// Undecided by then, it is over; null once it is decided.
    pub(crate) decide_by: Option<DateTime<Utc>>,
    pub(crate) approved_at: Option<DateTime<Utc>>,
    pub(crate) activated_at: Option<DateTime<Utc>>,
    pub(crate) expires_at: Option<DateTime<Utc>>,
    pub(crate) ended_at: Option<DateTime<Utc>>,
    pub(crate) ended_by: Option<UserRef>,
    /// Why it ended, where somebody or something said so.
    pub(crate) end_note: Option<String>,
    /// The rule of the policy that gave its steps.
    pub(crate) rule: String,
    /// The step that waits, from 1; null = none.
    pub(crate) step: Option<i32>,
    pub(crate) steps: Vec<StepView>,
    /// An emergency: active before anybody approved it.
    pub(crate) break_glass: bool,
    pub(crate) review: Option<ReviewView>,
    /// The one that it goes on from.
    pub(crate) renews: Option<Uuid>,
    /// What it may cost at most: GPUs of the jobs that it reached when it was asked for, for as long as is granted.
    pub(crate) cost_gpu_hours: f64,
    pub(crate) my: MineView,
    pub(crate) version: i64,
}

/// A budget that an exception is about.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ExceededBudget {
    pub(crate) id: Uuid,
    /// `gpu_hours` or `money`; null = the budget is gone.
    pub(crate) unit: Option<String>,
    /// Null = every class.
    pub(crate) priority_class: Option<String>,
}

/// Amounts, each where its kind of request has one.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct TermsView {
    pub(crate) level: Option<String>,
    pub(crate) guaranteed_gpus: Option<i32>,
    /// Null = as it is.
    pub(crate) borrow_limit_gpus: Option<i32>,
    pub(crate) gpu_hours: Option<i64>,
    /// On top of the budget, in its unit: a decimal.
    pub(crate) amount: Option<String>,
    /// Null = for good.
    pub(crate) duration_secs: Option<i64>,
}

/// A step: any one of these decides it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct StepView {
    pub(crate) number: i32,
    pub(crate) any_of: Vec<SeatView>,
    /// People to whom it was handed over; they may decide it as well.
    pub(crate) delegations: Vec<DelegationView>,
    /// Null = not yet.
    pub(crate) decision: Option<String>,
    pub(crate) decided_by: Option<UserRef>,
    pub(crate) decided_at: Option<DateTime<Utc>>,
    pub(crate) comment: Option<String>,
    /// What this step left of it.
    pub(crate) granted: Option<TermsView>,
}

/// Whoever has this role: in the team and those above it, or in the installation.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct SeatView {
    pub(crate) role: Option<String>,
    pub(crate) team: Option<TeamRef>,
    pub(crate) platform_role: Option<String>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct DelegationView {
    pub(crate) to: UserRef,
    pub(crate) by: UserRef,
}

/// The review of an emergency.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ReviewView {
    pub(crate) any_of: Vec<SeatView>,
    pub(crate) due_at: Option<DateTime<Utc>>,
    pub(crate) reviewed_at: Option<DateTime<Utc>>,
    pub(crate) reviewed_by: Option<UserRef>,
    /// Null = not yet.
    pub(crate) outcome: Option<String>,
    pub(crate) comment: Option<String>,
}

/// What the caller may do with it: null = may, else the code of the refusal.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MineView {
    pub(crate) approve: Option<&'static str>,
    pub(crate) deny: Option<&'static str>,
    pub(crate) delegate: Option<&'static str>,
    pub(crate) withdraw: Option<&'static str>,
    pub(crate) revoke: Option<&'static str>,
    pub(crate) renew: Option<&'static str>,
    pub(crate) review: Option<&'static str>,
}

impl From<Terms> for TermsView {
    fn from(terms: Terms) -> Self {
        Self {
            level: terms.level.map(|level| level.to_string()),
            guaranteed_gpus: terms.guaranteed_gpus,
            borrow_limit_gpus: terms.borrow_limit_gpus,
            gpu_hours: terms.gpu_hours,
            amount: terms.extra_micros.map(|micros| format(i128::from(micros), MICRO_DIGITS, 0)),
            duration_secs: terms.duration_secs,
        }
    }
}

impl MineView {
    fn new(case: &Case, by: By) -> Self {
        let code = |judged: Result<(), Refusal>| judged.err().map(Refusal::code);
        let decides = code(case.may_decide(by));
        Self {
            approve: decides,
            deny: decides,
            delegate: decides,
            withdraw: code(case.may_withdraw(by)),
            revoke: code(case.may_revoke(by)),
            renew: code(case.may_renew(by)),
            review: code(case.may_review(by)),
        }
    }
}

pub(super) fn view(row: EscalationRow, company: &Company, by: By) -> Result<EscalationView, StoreError> {
    let (case, asked, granted) = (row.case()?, row.asked()?, row.granted()?);
    let team = TeamRef { id: row.team_id, slug: row.team_slug, name: row.team_name };
    let secs = granted.duration_secs.unwrap_or(0);
    let open = matches!(row.state.as_str(), "requested" | "in_review");
    let seats: Vec<&SeatRow> = company.seats.iter().filter(|seat| seat.escalation_id == row.id).collect();
    let steps = company.steps.iter().filter(|step| step.escalation_id == row.id);
    let review = row.break_glass.then(|| ReviewView {
        any_of: of_step(&seats, 0).map(seat_view).collect(),
        due_at: row.review_due_at,
        reviewed_at: row.reviewed_at,
        reviewed_by: person(row.reviewed_by, row.reviewed_by_username, row.reviewed_by_name),
        outcome: row.review_outcome,
        comment: row.review_comment,
    });
    Ok(EscalationView {
        id: row.id,
        asks_for: row.asks_for,
        state: row.state,
        job: row.job_id.zip(row.job_name).map(|(id, name)| JobRef { id, name, team: team.clone() }),
        team,
        queue: row.queue_id.zip(row.queue_slug).map(|(id, slug)| QueueRef { id, slug }),
        kinds: row.kinds,
        pool: row.pool_id.zip(row.pool_slug).map(|(id, slug)| PoolRef { id, slug }),
        budget: row.budget_id.map(|id| ExceededBudget {
            id,
            unit: row.budget_unit,
            priority_class: row.budget_class,
        }),
        scope: row.scope,
        asked: asked.into(),
        granted: granted.into(),
        reason: row.reason,
        requested_by: UserRef {
            id: row.requested_by,
            username: row.username,
            display_name: row.display_name,
        },
        requested_at: row.requested_at,
        starts_at: row.starts_at,
        decide_by: open.then_some(row.decide_by),
        approved_at: row.approved_at,
        activated_at: row.activated_at,
        expires_at: row.expires_at,
        ended_at: row.ended_at,
        ended_by: person(row.ended_by, row.ended_by_username, row.ended_by_name),
        end_note: row.end_note,
        rule: row.rule,
        step: (row.step > 0).then_some(row.step),
        steps: steps.map(|step| step_view(step, &seats)).collect::<Result<_, _>>()?,
        break_glass: row.break_glass,
        review,
        renews: row.renews,
        cost_gpu_hours: gpu_hours(row.gpu_milli, secs),
        my: MineView::new(&case, by),
        version: row.version,
    })
}

/// GPU-hours of so many milli-GPU for so long.
#[expect(clippy::cast_precision_loss, reason = "for people to read")]
pub(super) fn gpu_hours(gpu_milli: i64, secs: i64) -> f64 {
    gpu_milli as f64 / 1_000.0 * secs as f64 / 3_600.0
}

fn of_step<'a>(seats: &'a [&SeatRow], step: i32) -> impl Iterator<Item = &'a SeatRow> {
    seats.iter().copied().filter(move |seat| seat.step == step && seat.user_id.is_none())
}

fn seat_view(seat: &SeatRow) -> SeatView {
    let names = seat.team_slug.clone().zip(seat.team_name.clone());
    SeatView {
        role: seat.role.clone(),
        team: seat.team_id.zip(names).map(|(id, (slug, name))| TeamRef { id, slug, name }),
        platform_role: seat.platform_role.clone(),
    }
}

fn step_view(step: &StepRow, seats: &[&SeatRow]) -> Result<StepView, StoreError> {
    let handed = seats.iter().filter(|seat| seat.step == step.number);
    let delegations = handed.filter_map(|seat| {
        let to = person(seat.user_id, seat.username.clone(), seat.display_name.clone())?;
        let (username, name) = (seat.delegated_by_username.clone(), seat.delegated_by_name.clone());
        Some(DelegationView { to, by: person(seat.delegated_by, username, name)? })
    });
    let granted: Option<Terms> = step.granted.clone().map(serde_json::from_value).transpose()?;
    Ok(StepView {
        number: step.number,
        any_of: of_step(seats, step.number).map(seat_view).collect(),
        delegations: delegations.collect(),
        decision: step.decision.clone(),
        decided_by: person(step.decided_by, step.username.clone(), step.display_name.clone()),
        decided_at: step.decided_at,
        comment: step.comment.clone(),
        granted: granted.map(TermsView::from),
    })
}

fn person(id: Option<Uuid>, username: Option<String>, display_name: Option<String>) -> Option<UserRef> {
    let id = id?;
    Some(UserRef { id, username: username?, display_name: display_name? })
}
