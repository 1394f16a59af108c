//! Which way a request goes: what it may cost, whether the budget has it, what the policy says, and who sits there.

use super::asked::Asked;
use super::view::gpu_hours;
use crate::app::AppState;
use crate::problem::{Code, Problem, Result};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::access::{Actor, PlatformRole};
use reeve_core::approval::{AsksFor, BudgetStanding, Question, Route};
use reeve_core::id::{EscalationId, TeamId, UserId};
use reeve_core::policy::{Approver, BreakGlass, Policy};
use reeve_core::priority::PriorityClass;
use reeve_store::escalations::cover;
use reeve_store::escalations::request::{NewEscalation, NewSeat, Way};
use reeve_store::policy::PolicyInForce;
use reeve_store::priority_budgets::{self, PriorityBudget};
use reeve_store::{StoreError, teams};
use serde::Serialize;
use utoipa::ToSchema;

/// What a request may cost at most.
#[derive(Debug)]
pub(super) struct Cost {
    pub(super) gpu_milli: i64,
    pub(super) secs: i64,
    pub(super) budget: Option<PriorityBudget>,
}

impl Cost {
    pub(super) async fn of(app: &AppState, asked: &Asked) -> Result<Self> {
        let raises = asked.terms.level.is_some_and(|level| level >= PriorityClass::High);
        Ok(Self {
            gpu_milli: if asked.asks_for == AsksFor::Priority || asked.asks_for == AsksFor::NeverEvict {
                cover::reached_milli(&app.store, asked.reach()).await?
            } else {
                0
            },
            secs: asked.terms.duration_secs.unwrap_or(0),
            budget: match raises {
                true => priority_budgets::of_team(&app.store, asked.team, app.clock.now()).await?,
                false => None,
            },
        })
    }

    const fn milli_secs(&self) -> i64 {
        self.gpu_milli.saturating_mul(self.secs)
    }

    pub(super) fn standing(&self) -> BudgetStanding {
        match &self.budget {
            None => BudgetStanding::Unset,
            Some(budget) if self.milli_secs() <= budget.remaining_milli_secs() => BudgetStanding::Within,
            Some(_) => BudgetStanding::Over,
        }
    }

    pub(super) fn view(&self) -> CostView {
        let hours = |milli_secs: i64| gpu_hours(milli_secs, 1);
        CostView {
            gpus: reeve_core::units::MilliGpu(self.gpu_milli).as_gpus(),
            gpu_hours: gpu_hours(self.gpu_milli, self.secs),
            standing: self.standing().to_string(),
            budget: self.budget.as_ref().map(|budget| CostBudget {
                team: budget.team_slug.clone(),
                month: budget.month.clone(),
                gpu_hours: budget.gpu_hours,
                exception_gpu_hours: budget.exception_gpu_hours,
                used_gpu_hours: hours(budget.used_milli_secs),
                committed_gpu_hours: hours(budget.committed_milli_secs),
                remaining_gpu_hours: hours(budget.remaining_milli_secs()),
            }),
        }
    }
}

/// What it may cost at most, against the team's budget of high-priority GPU-hours.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CostView {
    /// Of the live jobs that it reaches.
    gpus: f64,
    gpu_hours: f64,
    /// `within`, `over` or `unset`.
    standing: String,
    /// The team's, or the nearest above it; null = none.
    budget: Option<CostBudget>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CostBudget {
    /// Whose it is: a slug.
    team: String,
    /// For example `2026-11`, in UTC.
    month: String,
    gpu_hours: i64,
    exception_gpu_hours: i64,
    used_gpu_hours: f64,
    committed_gpu_hours: f64,
    /// Negative = overdrawn.
    remaining_gpu_hours: f64,
}

/// A request with its way.
pub(super) async fn routed(
    app: &AppState,
    actor: &Actor,
    asked: &Asked,
    in_force: &PolicyInForce,
    gpu: &Cost,
    renews: Option<EscalationId>,
) -> Result<NewEscalation> {
    let now = app.clock.now();
    let approvals = &in_force.document.approvals;
    let (rule, way) = if asked.break_glass {
        ("break_glass".to_owned(), emergency(app, actor, asked, &in_force.document, now).await?)
    } else {
        by_policy(app, asked, &in_force.document, gpu).await?
    };
    Ok(NewEscalation {
        asks_for: asked.asks_for,
        team: asked.team,
        job: asked.job,
        queue: asked.queue,
        kinds: asked.kinds.clone(),
        pool: asked.pool,
        budget: asked.budget,
        scope: asked.scope,
        asked: asked.terms,
        reason: asked.reason.clone(),
        requested_by: UserId(actor.id.0),
        starts_at: asked.starts_at,
        decide_by: now + TimeDelta::seconds(approvals.time_out_secs.max(1)),
        policy_version: in_force.version,
        rule,
        gpu_milli: gpu.gpu_milli,
        renews,
        way,
    })
}

async fn by_policy(app: &AppState, asked: &Asked, policy: &Policy, cost: &Cost) -> Result<(String, Way)> {
    const MILLI_SECS_AN_HOUR: i64 = 3_600_000;
    let chain: Vec<&str> = asked.chain.iter().map(String::as_str).collect();
    let question = Question {
        asks_for: asked.asks_for,
        level: asked.terms.level,
        scope: asked.scope,
        duration_secs: asked.terms.duration_secs,
        gpu_hours: cost.milli_secs().saturating_add(MILLI_SECS_AN_HOUR - 1) / MILLI_SECS_AN_HOUR,
        budget: cost.standing(),
        teams: &chain,
    };
    Ok(match policy.approvals.route(&question) {
        Route::AutoApprove { rule } => (rule.to_owned(), Way::AutoApprove),
        Route::Refuse { rule, because } => (rule.to_owned(), Way::Refuse { because: because.to_owned() }),
        Route::Steps { rule, steps } => {
            let mut seated = Vec::with_capacity(steps.len());
            for step in steps {
                seated.push(seats(app, asked.team, &step.any_of).await?);
            }
            (rule.to_owned(), Way::Steps(seated))
        }
    })
}

async fn emergency(
    app: &AppState,
    actor: &Actor,
    asked: &Asked,
    policy: &Policy,
    now: DateTime<Utc>,
) -> Result<Way> {
    let refused = |detail: &str| Problem::new(Code::BreakGlassRefused).detail(detail);
    let Some(glass) = &policy.approvals.break_glass else {
        return Err(refused("the policy lets nobody activate anything without approval"));
    };
    let BreakGlass { any_of, reviewers, review_within_secs, .. } = glass;
    let holds = |seat: &NewSeat| match seat {
        NewSeat::Platform(role) => actor.platform_roles.contains(role),
        NewSeat::InTeam(role, team) => actor.has(*team, *role),
    };
    if !seats(app, asked.team, any_of).await?.iter().any(holds) {
        return Err(refused("your roles are none of those that the policy names for emergencies"));
    }
    Ok(Way::BreakGlass {
        reviewers: seats(app, asked.team, reviewers).await?,
        review_due_at: now + TimeDelta::seconds((*review_within_secs).max(1)),
    })
}

/// The seats of a step. A team that is gone has no roles: where nobody is left, administrators decide.
async fn seats(app: &AppState, team: TeamId, any_of: &[Approver]) -> Result<Vec<NewSeat>, StoreError> {
    let mut seats = Vec::with_capacity(any_of.len());
    for approver in any_of {
        match approver {
            Approver::Platform(platform) => seats.push(NewSeat::Platform(platform.platform_role)),
            Approver::InTeam(in_team) => match &in_team.team {
                None => seats.push(NewSeat::InTeam(in_team.role, team)),
                Some(slug) => match teams::find(&app.store, slug).await {
                    Ok(named) => seats.push(NewSeat::InTeam(in_team.role, TeamId(named.id))),
                    Err(StoreError::NotFound) => {}
                    Err(other) => return Err(other),
                },
            },
        }
    }
    if seats.is_empty() {
        seats.push(NewSeat::Platform(PlatformRole::Admin));
    }
    Ok(seats)
}
