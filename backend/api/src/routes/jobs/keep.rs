//! Keeps submissions: admit, make the reply, insert all in one statement, and tell each what became of it.
//!
//! Many together are admitted by the last look at what they name, and wait for nobody; those that cannot be kept so, for
//! whatever reason, go on by themselves, with a look of their own. So nothing is refused by what was true a moment ago,
//! and one that is wrong or in conflict holds up no other.

use super::admit::{Admitted, Facts, Refusal, admit, look_up, recall};
use super::batch::BatchView;
use super::gather::Waiting;
use super::new_job;
use crate::app::AppState;
use crate::extract::{Caller, Effect, reply};
use crate::problem::{Code, FieldError, Problem, Result};
use crate::refs::UserRef;
use axum::http::StatusCode;
use reeve_core::job_spec::{Fault, RawJob};
use reeve_store::StoreError;
use reeve_store::idempotency::{IdempotencyKey, StoredReply};
use reeve_store::submit::{self, NewJob, Patience, Submission};
use std::collections::HashSet;

/// How often names may change between looking and keeping before the caller is told.
const ATTEMPTS: usize = 3;

/// What somebody asks to be put in line.
#[derive(Debug)]
pub(crate) struct Request {
    pub(super) caller: Caller,
    pub(super) raws: Vec<RawJob>,
    pub(super) key: Option<IdempotencyKey>,
    pub(super) shape: Shape,
}

/// How a request looks from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    One,
    Batch,
}

/// A request that may be kept, with its reply.
struct Prepared {
    submission: Submission,
    reply: StoredReply,
}

/// Keeps one that came alone: as [`together`] would. If its caller goes away amid the statement, that stands or falls as a
/// whole, like a reply that was lost on its way. `None`: it cannot be kept so, and goes on by itself ([`alone`]).
pub(super) async fn lone(app: &AppState, request: &Request) -> Option<Effect> {
    let raws: Vec<&RawJob> = request.raws.iter().collect();
    let facts = match recall(app, &raws).await {
        Ok(mut facts) => facts.pop()?,
        Err(error) => return Some(Effect::Failed(error.into())),
    };
    let Prepared { submission, reply } = prepare(app, request, &facts).ok()?;
    match submit::insert(&app.store, &[submission], Patience::Pass).await.map(|mut outcomes| outcomes.pop()) {
        Ok(Some(Ok(()))) => Some(Effect::Done(reply)),
        Ok(Some(Err(StoreError::Duplicate { .. }))) => Some(Effect::Known),
        Err(error) if !error.is_undone() => Some(Effect::Failed(error.into())),
        _ => None,
    }
}

/// Keeps those that were gathered.
pub(super) async fn together(app: &AppState, gathered: Vec<Waiting>) {
    // Nobody waits any more for some: they are not begun.
    let gathered: Vec<Waiting> = gathered.into_iter().filter(Waiting::is_awaited).collect();
    let raws: Vec<&RawJob> = gathered.iter().flat_map(|waiting| &waiting.request.raws).collect();
    let facts = match recall(app, &raws).await {
        Ok(facts) => facts,
        Err(error) => return fail(gathered, error.into()),
    };
    let (mut kept, mut prepared, mut keys) = (Vec::new(), Vec::new(), HashSet::new());
    for (waiting, facts) in gathered.into_iter().zip(facts) {
        let key = waiting.request.key.as_ref().map(|key| (key.caller, key.key.clone()));
        // Of two equal ones here, the second must find what the first leaves.
        match (key.is_none_or(|key| keys.insert(key)), prepare(app, &waiting.request, &facts)) {
            (true, Ok(ready)) => {
                kept.push(waiting);
                prepared.push(ready);
            }
            _ => apart(app, waiting),
        }
    }
    insert(app, kept, prepared).await;
}

async fn insert(app: &AppState, waiting: Vec<Waiting>, prepared: Vec<Prepared>) {
    if waiting.is_empty() {
        return;
    }
    let (submissions, replies): (Vec<Submission>, Vec<StoredReply>) =
        prepared.into_iter().map(|prepared| (prepared.submission, prepared.reply)).unzip();
    let outcomes = match submit::insert(&app.store, &submissions, Patience::Pass).await {
        Ok(outcomes) => outcomes,
        Err(error) if error.is_undone() => {
            return waiting.into_iter().for_each(|waiting| apart(app, waiting));
        }
        Err(error) => return fail(waiting, error.into()),
    };
    for ((waiting, reply), outcome) in waiting.into_iter().zip(replies).zip(outcomes) {
        match outcome {
            Ok(()) => waiting.answer(Effect::Done(reply)),
            Err(StoreError::Duplicate { .. }) => waiting.answer(Effect::Known),
            Err(_) => apart(app, waiting),
        }
    }
}

fn fail(waiting: Vec<Waiting>, problem: Problem) {
    for waiting in waiting {
        waiting.answer(Effect::Failed(problem.clone()));
    }
}

/// Goes on with one by itself, while the others go on without it.
fn apart(app: &AppState, waiting: Waiting) {
    let app = app.clone();
    tokio::spawn(async move {
        let effect = alone(&app, &waiting.request).await;
        waiting.answer(effect);
    });
}

/// Keeps one request by what is true now.
pub(super) async fn alone(app: &AppState, request: &Request) -> Effect {
    let mut outcome = Err(StoreError::Conflict);
    for _ in 0..ATTEMPTS {
        let raws: Vec<&RawJob> = request.raws.iter().collect();
        let prepared = match look_up(app, &raws).await {
            Ok(facts) => prepare(app, request, &facts),
            Err(error) => return Effect::Failed(error.into()),
        };
        let Prepared { submission, reply } = match prepared {
            Ok(prepared) => prepared,
            Err(problem) => return Effect::Refused(problem),
        };
        outcome = submit::insert(&app.store, &[submission], Patience::Wait)
            .await
            .and_then(|mut outcomes| outcomes.pop().unwrap_or(Err(StoreError::NoEvent)));
        match outcome {
            Ok(()) => return Effect::Done(reply),
            Err(StoreError::Duplicate { .. }) => return Effect::Known,
            Err(StoreError::Conflict) => {}
            Err(error) => return Effect::Failed(error.into()),
        }
    }
    Effect::Refused(outcome.map_or_else(overtaken, |()| Problem::new(Code::Internal)))
}

fn prepare(app: &AppState, request: &Request, facts: &Facts) -> Result<Prepared> {
    let prefix = |nth| if request.shape == Shape::Batch { format!("/jobs/{nth}") } else { String::new() };
    let admitted = admit(facts, &request.caller.actor, request.raws.clone(), prefix).map_err(refused)?;
    let context = app.context(&request.caller);
    let row = |admitted: &Admitted| new_job::row(admitted, request.caller.actor.id, context.now);
    let jobs: Vec<NewJob> = admitted.iter().map(row).collect();
    let reply = match (request.shape, jobs.as_slice(), admitted.as_slice()) {
        (Shape::One, [job], [admitted]) => {
            reply(StatusCode::CREATED, &new_job::view(job, admitted, user_ref(&request.caller)))?
        }
        _ => reply(StatusCode::CREATED, &BatchView::of(&jobs))?,
    };
    let submission = Submission {
        reply: request.key.clone().map(|key| (key, reply.clone())),
        seen: admitted.iter().flat_map(|admitted| &admitted.seen).copied().collect(),
        policy_version: Some(facts.policy_version()),
        context,
        jobs,
    };
    Ok(Prepared { submission, reply })
}

fn user_ref(caller: &Caller) -> UserRef {
    UserRef {
        id: caller.actor.id.0,
        username: caller.username.clone(),
        display_name: caller.display_name.clone(),
    }
}

/// A refusal as a problem. A lone fault with a code of its own gives the problem its code.
pub(super) fn refused(refusal: Refusal) -> Problem {
    let faults = match refusal {
        Refusal::Forbidden { team } => {
            return Problem::new(Code::Forbidden).detail(format!(
                "you are no member of team {team}: ask one of its leads to add you, or submit to your own team"
            ));
        }
        Refusal::Faults(faults) => faults,
    };
    let code = match faults.as_slice() {
        [only] if only.code == "priority_above_ceiling" => Code::PriorityAboveCeiling,
        [only] if only.code == "budget_exhausted" => Code::BudgetExhausted,
        [only] if only.code == "budget_needs_approval" => Code::BudgetNeedsApproval,
        _ => Code::InvalidBody,
    };
    let mut problem = Problem::new(code);
    if let [Fault { budget: Some(budget), .. }] = faults.as_slice() {
        problem = problem.param("budget", budget.to_string());
    }
    problem.detail = faults
        .iter()
        .take(3)
        .map(|fault| format!("{}: {}", fault.pointer, fault.detail))
        .collect::<Vec<_>>()
        .join("; ");
    problem.errors = faults
        .into_iter()
        .map(|fault| FieldError { pointer: fault.pointer, code: fault.code.to_owned(), detail: fault.detail })
        .collect();
    problem
}

/// The queue was closed, or the team deleted, between looking and keeping, again and again.
fn overtaken(error: StoreError) -> Problem {
    match error {
        StoreError::Conflict => Problem::new(Code::Conflict)
            .detail("the queue was closed or the team deleted meanwhile: choose another queue"),
        other => other.into(),
    }
}
