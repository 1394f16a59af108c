//! A preview as JSON: what starts, who is evicted, what it costs.

use super::route::CostView;
use super::view::SeatView;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use crate::refs::TeamRef;
use crate::routes::budgets::view::{BudgetView, view as budget_view};
use crate::routes::what_if::view::{WhatIfView, view as what_if_view};
use crate::routes::what_if::work_out::work_out;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::approval::{AsksFor, Raise, Scope, Terms};
use reeve_core::id::{JobId, PoolId, TeamId};
use reeve_core::schedule::snapshot::Quota;
use reeve_core::units::MilliGpu;
use reeve_core::what_if::Change;
use reeve_store::escalations::request::{NewEscalation, NewSeat, Way};
use reeve_store::{StoreError, budgets, quotas, teams};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// What an escalation would do if it were active now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EscalationPreview {
    as_of: DateTime<Utc>,
    /// The way that a request would go; null for one that has gone it.
    route: Option<RouteView>,
    /// What would differ from today; null where nothing moves: a budget, or one that is active or over.
    what_if: Option<WhatIfView>,
    cost: CostView,
    /// The budget that would be exceeded; null where the request is about none, or it is gone.
    budget: Option<BudgetChange>,
}

/// A budget without and with the exception.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BudgetChange {
    before: BudgetView,
    after: BudgetView,
}

/// Which way a request goes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RouteView {
    /// `steps`, `auto_approve`, `refuse` or `break_glass`.
    outcome: &'static str,
    rule: String,
    /// Why it is refused.
    because: Option<String>,
    /// Each step: any one of these decides it.
    steps: Vec<Vec<SeatView>>,
}

pub(super) async fn route_view(app: &AppState, new: &NewEscalation) -> Result<RouteView> {
    let (outcome, because, seats) = match &new.way {
        Way::AutoApprove => ("auto_approve", None, &[][..]),
        Way::Refuse { because } => ("refuse", Some(because.clone()), &[][..]),
        Way::Steps(steps) => ("steps", None, steps.as_slice()),
        Way::BreakGlass { .. } => ("break_glass", None, &[][..]),
    };
    let mut steps = Vec::with_capacity(seats.len());
    for step in seats {
        let mut any_of = Vec::with_capacity(step.len());
        for seat in step {
            any_of.push(seat_view(app, seat).await?);
        }
        steps.push(any_of);
    }
    Ok(RouteView { outcome, rule: new.rule.clone(), because, steps })
}

async fn seat_view(app: &AppState, seat: &NewSeat) -> Result<SeatView> {
    Ok(match seat {
        NewSeat::Platform(role) => SeatView { role: None, team: None, platform_role: Some(role.to_string()) },
        NewSeat::InTeam(role, team) => {
            let team = teams::find(&app.store, &team.to_string()).await?;
            let team = TeamRef { id: team.id, slug: team.slug, name: team.name };
            SeatView { role: Some(role.to_string()), team: Some(team), platform_role: None }
        }
    })
}

/// What it would put in force.
#[derive(Debug, Clone)]
pub(super) struct Effect {
    pub(super) asks_for: AsksFor,
    pub(super) team: TeamId,
    pub(super) job: Option<JobId>,
    pub(super) pool: Option<PoolId>,
    pub(super) budget: Option<Uuid>,
    pub(super) raise: Option<Raise>,
    pub(super) terms: Terms,
}

impl Effect {
    /// Of a request that is not kept yet.
    pub(super) fn of(new: &NewEscalation) -> Self {
        let raise = new.asked.level.map(|level| Raise {
            team: new.team,
            job: new.job,
            queue: new.queue,
            kinds: new.kinds.clone(),
            level,
            scope: new.scope.unwrap_or(Scope::Team),
        });
        Self {
            asks_for: new.asks_for,
            team: new.team,
            job: new.job,
            pool: new.pool,
            budget: new.budget,
            raise,
            terms: new.asked,
        }
    }

    async fn budget(&self, app: &AppState, now: DateTime<Utc>) -> Result<Option<BudgetChange>> {
        let Some(id) = self.budget else { return Ok(None) };
        let found = match budgets::find(&app.store, now, id).await {
            Err(StoreError::NotFound) => return Ok(None),
            found => found?,
        };
        let before = budget_view(&found, now);
        let mut then = found;
        let extra = &mut then.standing.extra;
        extra.micros = extra.micros.saturating_add(self.terms.extra_micros.unwrap_or(0));
        if let Some(secs) = self.terms.duration_secs {
            let until = now + TimeDelta::seconds(secs);
            then.extra_until = Some(then.extra_until.map_or(until, |first| first.min(until)));
        }
        Ok(Some(BudgetChange { before, after: budget_view(&then, now) }))
    }

    async fn change(self, app: &AppState) -> Result<Option<Change>> {
        Ok(match (self.asks_for, self.raise, self.job, self.pool) {
            (AsksFor::Priority, Some(raise), ..) => Some(Change::Raise(raise)),
            (AsksFor::NeverEvict, _, Some(job), _) => Some(Change::NeverEvict(job)),
            (AsksFor::Quota, _, _, Some(pool)) => {
                let now = match quotas::get(&app.store, self.team, pool).await {
                    Err(StoreError::NotFound) => None,
                    found => Some(found?),
                };
                let gpus = |gpus: i32| MilliGpu(i64::from(gpus) * 1_000);
                let limit =
                    self.terms.borrow_limit_gpus.or(now.as_ref().and_then(|now| now.borrow_limit_gpus));
                Some(Change::Quota(Quota {
                    team: self.team,
                    pool,
                    guaranteed: gpus(self.terms.guaranteed_gpus.unwrap_or(0)),
                    borrow_limit: limit.map(gpus),
                    lend_limit: now.as_ref().and_then(|now| now.lend_limit_gpus).map(gpus),
                    weight: now.map_or(1, |now| u32::try_from(now.weight).unwrap_or(1)),
                    drain: false,
                }))
            }
            _ => None,
        })
    }
}

/// The planner's answer on the live state.
pub(super) async fn preview(
    app: &AppState,
    caller: &Caller,
    effect: Option<Effect>,
    cost: CostView,
    route: Option<RouteView>,
) -> Result<EscalationPreview> {
    let now = app.clock.now();
    let budget = match &effect {
        Some(effect) => effect.budget(app, now).await?,
        None => None,
    };
    let change = match effect {
        Some(effect) => effect.change(app).await?,
        None => None,
    };
    let what_if = match change {
        Some(change) => {
            let (difference, then) = work_out(app, now, vec![change]).await?;
            let view = what_if_view(&app.store, &caller.actor, now, &[], &difference, &then).await;
            Some(view.map_err(Problem::from)?)
        }
        None => None,
    };
    Ok(EscalationPreview { as_of: now, route, what_if, cost, budget })
}
