//! What every act on an escalation shares: locked, judged by its case, and, when refused, told to the audit log with the
//! rule that refused it.

use super::load::{Loaded, load};
use super::people::{People, afresh};
use super::view::view;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Once};
use crate::problem::{Code, Problem, Result};
use crate::routes::quotas::put::above;
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::approval::{By, Case, Refusal};
use reeve_core::id::EscalationId;
use reeve_store::escalations::effect::EffectFault;
use reeve_store::escalations::row::EscalationRow;
use reeve_store::escalations::show;
use reeve_store::version::etag;
use reeve_store::{NewEvent, StoreError, WriteTx};

/// An act under way.
pub(super) struct Acting<'a> {
    app: &'a AppState,
    caller: &'a Caller,
    /// Its name in the audit log.
    what: &'static str,
    pub(super) tx: WriteTx,
    pub(super) row: EscalationRow,
    pub(super) case: Case,
    pub(super) by: By,
    people: People,
}

impl<'a> Acting<'a> {
    /// Locks it for the caller, whose roles are read afresh.
    pub(super) async fn begin(
        app: &'a AppState,
        caller: &'a Caller,
        id: &str,
        action: Action,
        what: &'static str,
    ) -> Result<Self> {
        let actor = afresh(app, caller).await?;
        let Loaded { row, company, people } = load(app, caller, actor, id, action).await?;
        let mut tx = app.begin(caller).await?;
        let row = show::lock(&mut tx, EscalationId(row.id)).await?;
        let by = people.by(&row, &company.seats);
        let case = row.case()?;
        Ok(Self { app, caller, what, tx, row, case, by, people })
    }

    /// Goes on with what was judged to be allowed; the refusal is written down otherwise.
    pub(super) async fn judged<T>(self, judged: Result<T, Refusal>) -> Result<(Self, T)> {
        match judged {
            Ok(value) => Ok((self, value)),
            Err(refusal) => {
                let problem = problem(refusal).param("state", self.row.state.clone());
                Err(self.refuse(refusal.code(), problem).await)
            }
        }
    }

    /// What was approved or denied is what was seen.
    pub(super) async fn seen(self, if_match: IfMatch) -> Result<Self> {
        match if_match.require(self.row.version) {
            Ok(()) => Ok(self),
            Err(problem) => {
                let rule = problem.code.as_str();
                Err(self.refuse(rule, problem).await)
            }
        }
    }

    /// Nothing was done, and that somebody tried is kept.
    pub(super) async fn refuse(self, rule: &str, problem: Problem) -> Problem {
        let event =
            NewEvent::new(self.what, "escalation", self.row.id).team(self.row.team()).denied(rule).detail(
                serde_json::json!({"state": self.row.state, "step": self.row.step, "detail": problem.detail}),
            );
        let (app, caller) = (self.app, self.caller);
        let kept = async {
            self.tx.rollback().await?;
            let mut tx = app.begin(caller).await?;
            tx.record(event);
            tx.commit().await?;
            Ok::<_, Problem>(())
        };
        kept.await.err().unwrap_or(problem)
    }

    /// Keeps the effect with its reply.
    pub(super) async fn commit(mut self, once: Once, after: EscalationRow) -> Result<Response> {
        let company = show::company_in(&mut self.tx, &[after.id]).await?;
        let by = self.people.by(&after, &company.seats);
        let (version, of_budget) = (after.version, after.budget_id.is_some());
        let view = view(after, &company, by)?;
        let reply = once.commit_with(self.tx, StatusCode::OK, &view, &[("etag", etag(version))]).await;
        if of_budget {
            self.app.budgets.forget();
        }
        reply
    }
}

/// What happened to the row under the lock cannot happen; what the schema refused is a person who was faster.
pub(super) fn raced(error: StoreError) -> Problem {
    match error {
        StoreError::Duplicate { constraint } if constraint == "escalation_steps_person_key" => {
            problem(Refusal::SamePerson)
        }
        StoreError::Duplicate { constraint } if constraint == "escalation_seats_person_key" => {
            Problem::new(Code::AlreadyExists).detail("this person has the step already")
        }
        other => other.into(),
    }
}

/// A refusal as a problem.
pub(super) fn problem(refusal: Refusal) -> Problem {
    let code = match refusal {
        Refusal::OwnRequest => Code::EscalationOwnRequest,
        Refusal::SamePerson => Code::EscalationSamePerson,
        Refusal::NotApprover => Code::EscalationNotApprover,
        Refusal::NotYours => Code::EscalationNotYours,
        Refusal::State(_) => Code::EscalationState,
        Refusal::Larger { .. } | Refusal::NotAskedFor { .. } => Code::EscalationLarger,
    };
    let problem = Problem::new(code).detail(refusal.to_string());
    match refusal {
        Refusal::Larger { field } => problem.error(format!("/{field}"), "larger", refusal.to_string()),
        Refusal::NotAskedFor { field } => {
            problem.error(format!("/{field}"), "not_asked_for", refusal.to_string())
        }
        _ => problem,
    }
}

/// What cannot be put in force now, as a problem.
pub(super) fn fault(fault: EffectFault) -> Problem {
    match fault {
        EffectFault::Guarantee(fault) => above(fault),
        EffectFault::BudgetGone => Problem::new(Code::BudgetGone)
            .detail("the budget was deleted: there is nothing to exceed any more"),
        EffectFault::JobEnded => {
            Problem::new(Code::JobIsFinal).detail("the job has ended: it needs nothing any more")
        }
    }
}
