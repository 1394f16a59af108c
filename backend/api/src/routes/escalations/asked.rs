//! From a body to a request that makes sense: names looked up, every field of its kind and no other.

use super::body::{LEAST_SECS, MOST_GPU_HOURS, MOST_GPUS, RequestEscalation, extra, prose, small};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Code, Fields, Problem, Result};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::access::{Action, Resource};
use reeve_core::approval::{AsksFor, Scope, Terms};
use reeve_core::id::{JobId, PoolId, QueueId, TeamId};
use reeve_core::kind::Kind;
use reeve_core::policy::{Place, Policy};
use reeve_core::priority::PriorityClass;
use reeve_store::escalations::cover::Reach;
use reeve_store::jobs::show;
use reeve_store::{StoreError, budgets, pools, queues, quotas, teams};

const FARTHEST: TimeDelta = TimeDelta::days(366);

/// A request, resolved.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) asks_for: AsksFor,
    pub(super) team: TeamId,
    /// The team's slug and those above it, nearest first.
    pub(super) chain: Vec<String>,
    pub(super) job: Option<JobId>,
    pub(super) queue: Option<QueueId>,
    pub(super) kinds: Option<Vec<Kind>>,
    pub(super) pool: Option<PoolId>,
    pub(super) budget: Option<uuid::Uuid>,
    pub(super) scope: Option<Scope>,
    pub(super) terms: Terms,
    pub(super) reason: String,
    pub(super) starts_at: Option<DateTime<Utc>>,
    pub(super) break_glass: bool,
}

impl Asked {
    pub(super) fn reach(&self) -> Reach<'_> {
        Reach { team: self.team, job: self.job, queue: self.queue, kinds: self.kinds.as_deref() }
    }
}

/// Checks and resolves a body; rights are asked.
pub(super) async fn asked(
    app: &AppState,
    caller: &Caller,
    body: RequestEscalation,
    policy: &Policy,
) -> Result<Asked> {
    let mut fields = Fields::new();
    let Some(asks_for) = fields.word::<AsksFor>("/asks_for", &body.asks_for) else {
        fields.done()?;
        return Err(Problem::new(Code::InvalidBody));
    };
    shape(&mut fields, &body, asks_for);
    prose(&mut fields, "/reason", &body.reason, 1);
    let terms = terms(&mut fields, &body, asks_for, policy);
    let scope = body.scope.as_deref().map_or(Some(Scope::Team), |scope| fields.word("/scope", scope));
    let kinds = kinds(&mut fields, body.kinds.as_deref());
    when(&mut fields, &body, app.clock.now());
    fields.done()?;
    let mut asked = Asked {
        asks_for,
        team: TeamId(uuid::Uuid::nil()),
        chain: Vec::new(),
        job: body.job.map(JobId),
        queue: None,
        kinds,
        pool: None,
        budget: None,
        scope: scope.filter(|_| asks_for == AsksFor::Priority),
        terms,
        reason: body.reason.clone(),
        starts_at: body.starts_at,
        break_glass: body.break_glass,
    };
    place(app, caller, &body, &mut asked).await?;
    app.allow(caller, Action::EscalationRequest, &Resource::Team(asked.team)).await?;
    if let Some(id) = body.budget {
        exceed(app, id, &mut asked).await?;
    }
    asked.chain = teams::chain(&app.store, asked.team).await?;
    needed(app, &asked, policy).await?;
    Ok(asked)
}

/// Every field that its kind needs, and no other.
fn shape(fields: &mut Fields, body: &RequestEscalation, asks_for: AsksFor) {
    let (priority, quota) = (asks_for == AsksFor::Priority, asks_for == AsksFor::Quota);
    let (budget, never) = (asks_for == AsksFor::Budget, asks_for == AsksFor::NeverEvict);
    let (of_team, named) = (body.job.is_none(), body.budget.is_some());
    // Pointer, given, has a place, is needed.
    let rules = [
        ("/job", body.job.is_some(), priority || never, never),
        ("/team", body.team.is_some(), of_team, of_team),
        ("/queue", body.queue.is_some(), priority && of_team, false),
        ("/kinds", body.kinds.is_some(), priority && of_team, false),
        ("/level", body.level.is_some(), priority, priority),
        ("/scope", body.scope.is_some(), priority, false),
        ("/pool", body.pool.is_some(), quota, quota),
        ("/guaranteed_gpus", body.guaranteed_gpus.is_some(), quota, quota),
        ("/borrow_limit_gpus", body.borrow_limit_gpus.is_some(), quota, false),
        ("/gpu_hours", body.gpu_hours.is_some(), budget && !named, budget && !named),
        ("/budget", named, budget, false),
        ("/amount", body.amount.is_some(), budget && named, budget && named),
        ("/duration_secs", body.duration_secs.is_some(), true, !quota),
        ("/break_glass", body.break_glass, priority || never, false),
    ];
    for (pointer, given, fits, needed) in rules {
        if given && !fits {
            fields.add(
                pointer,
                "not_for_this",
                format!("a request for {asks_for} has no such field here: leave it out"),
            );
        } else if needed && !given {
            fields.add(pointer, "missing", format!("a request for {asks_for} needs it"));
        }
    }
}

fn terms(fields: &mut Fields, body: &RequestEscalation, asks_for: AsksFor, policy: &Policy) -> Terms {
    let longest = match (&policy.approvals.break_glass, body.break_glass) {
        (Some(glass), true) => glass.longest_secs,
        _ => policy.approvals.longest_secs,
    };
    let amounts = [
        ("/guaranteed_gpus", body.guaranteed_gpus, 0, MOST_GPUS),
        ("/borrow_limit_gpus", body.borrow_limit_gpus, 0, MOST_GPUS),
        ("/gpu_hours", body.gpu_hours, 1, MOST_GPU_HOURS),
        ("/duration_secs", body.duration_secs, LEAST_SECS, longest.max(LEAST_SECS)),
    ];
    for (pointer, value, least, most) in amounts {
        if let Some(value) = value {
            fields.range(pointer, value, least, most);
        }
    }
    let level = body.level.as_deref().and_then(|level| fields.word::<PriorityClass>("/level", level));
    Terms {
        level: level.filter(|_| asks_for == AsksFor::Priority),
        guaranteed_gpus: body.guaranteed_gpus.map(small),
        borrow_limit_gpus: body.borrow_limit_gpus.map(small),
        gpu_hours: body.gpu_hours,
        extra_micros: body.amount.as_deref().and_then(|text| extra(fields, text)),
        duration_secs: body.duration_secs,
    }
}

fn kinds(fields: &mut Fields, kinds: Option<&[String]>) -> Option<Vec<Kind>> {
    let mut found: Vec<Kind> = Vec::new();
    for (index, kind) in kinds?.iter().enumerate() {
        found.extend(fields.word::<Kind>(&format!("/kinds/{index}"), kind));
    }
    if found.is_empty() {
        fields.add("/kinds", "missing", "name at least one kind, or leave it out for all");
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

fn when(fields: &mut Fields, body: &RequestEscalation, now: DateTime<Utc>) {
    match body.starts_at {
        Some(_) if body.break_glass => {
            fields.add("/starts_at", "not_for_this", "an emergency begins at once: leave it out");
        }
        Some(at) if at <= now => {
            fields.add(
                "/starts_at",
                "in_the_past",
                "it lies in the past: leave it out to begin once it is approved",
            );
        }
        Some(at) if at > now + FARTHEST => {
            fields.add("/starts_at", "too_far_ahead", "at most 366 days ahead")
        }
        _ => {}
    }
}

async fn place(app: &AppState, caller: &Caller, body: &RequestEscalation, asked: &mut Asked) -> Result<()> {
    if let Some(id) = asked.job {
        let job = show::get(&app.store, id).await?;
        let resource = Resource::Job { team: job.team(), owner: job.owner() };
        app.allow(caller, Action::JobRead, &resource).await?;
        if matches!(job.state.as_str(), "succeeded" | "failed" | "cancelled") {
            return Err(Problem::new(Code::JobIsFinal).detail(format!("the job is {} already", job.state)));
        }
        asked.team = job.team();
    }
    let mut fields = Fields::new();
    if let Some(team) = &body.team {
        let found = teams::find(&app.store, team).await;
        asked.team = known(found, &mut fields, "/team")?.map_or(asked.team, |team| TeamId(team.id));
    }
    if let Some(pool) = &body.pool {
        let found = pools::find(&app.store, pool).await;
        asked.pool = known(found, &mut fields, "/pool")?.map(|pool| PoolId(pool.id));
    }
    if let Some(queue) = &body.queue {
        let found = known(queues::find(&app.store, queue).await, &mut fields, "/queue")?;
        if found.as_ref().is_some_and(|queue| queue.team_id != asked.team.0) {
            fields.add("/queue", "queue_of_other_team", "this queue belongs to another team");
        }
        asked.queue = found.map(|queue| QueueId(queue.id));
    }
    fields.done()
}

/// The budget is the team's or one above it; it is for its own team's people to decide. Any other is not there.
async fn exceed(app: &AppState, id: uuid::Uuid, asked: &mut Asked) -> Result<()> {
    let mut fields = Fields::new();
    let found = budgets::find(&app.store, app.clock.now(), id).await;
    let paths = budgets::team_paths(&app.store).await?;
    let path = paths.get(&asked.team).map_or(&[][..], Vec::as_slice);
    match found {
        Ok(budget) if path.contains(&budget.standing.team) => {
            asked.team = budget.standing.team;
            asked.budget = Some(id);
        }
        Ok(_) | Err(StoreError::NotFound) => {
            fields.add("/budget", "unknown_reference", "no budget of this team, or above it, has this id");
        }
        Err(other) => return Err(other.into()),
    }
    fields.done()
}

/// What was found; a name that nothing has is a wrong field.
fn known<T>(found: Result<T, StoreError>, fields: &mut Fields, at: &str) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::NotFound) => {
            fields.add(at, "unknown_reference", "there is nothing of this name: give a slug or id");
            Ok(None)
        }
        Err(other) => Err(other.into()),
    }
}

/// It asks for something that is not so already.
async fn needed(app: &AppState, asked: &Asked, policy: &Policy) -> Result<()> {
    let needless = |detail: String| Err(Problem::new(Code::EscalationNeedless).detail(detail));
    match (asked.terms.level, asked.job, asked.pool) {
        (Some(level), Some(job), _) => {
            let class: PriorityClass =
                show::get(&app.store, job).await?.priority_class.parse().map_err(StoreError::from)?;
            if level <= class {
                return needless(format!("the job is {class} already: ask for a higher level"));
            }
        }
        (Some(level), None, _) => {
            let chain: Vec<&str> = asked.chain.iter().map(String::as_str).collect();
            let place = Place { queue: None, teams: &chain };
            let kinds = asked.kinds.as_deref().unwrap_or(Kind::ALL);
            let ceilings = kinds.iter().map(|&kind| policy.rules_at(kind, place).ceiling);
            if let Some(lowest) = ceilings.min().filter(|&lowest| level <= lowest) {
                return needless(format!(
                    "the team's jobs may be submitted up to {lowest} without approval: ask for a higher level"
                ));
            }
        }
        (None, _, Some(pool)) => {
            let now = match quotas::get(&app.store, asked.team, pool).await {
                Err(StoreError::NotFound) => None,
                found => Some(found?),
            };
            let gpus = asked.terms.guaranteed_gpus;
            let same_limit = asked
                .terms
                .borrow_limit_gpus
                .is_none_or(|limit| now.as_ref().is_some_and(|now| now.borrow_limit_gpus == Some(limit)));
            if same_limit && gpus == Some(now.map_or(0, |now| now.guaranteed_gpus)) {
                return needless("the quota is so already: ask for another".to_owned());
            }
        }
        _ => {}
    }
    Ok(())
}
