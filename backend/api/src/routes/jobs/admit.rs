//! From submissions to jobs that can be kept: look all their names up at once, parse each, check rights.
//!
//! An admission says what it stood on; whoever keeps the jobs compares that with what is true at that moment. A refusal
//! has no such guard: it is only told by somebody who has just looked.

use crate::app::AppState;
use crate::budget_gate::Gate;
use chrono::{DateTime, Utc};
use reeve_core::access::{Action, Actor, Resource, Verdict, may};
use reeve_core::dependency::DependencyCondition;
use reeve_core::id::{PoolId, TeamId, UserId};
use reeve_core::job_spec::admit::{
    PoolReach, QueueRules, Warning, priority_class, queue_takes, unknown_levels, warnings,
};
use reeve_core::job_spec::parse::parse;
use reeve_core::job_spec::{Fault, JobSpec, RawJob};
use reeve_core::policy::{Place, Policy};
use reeve_core::priority::PriorityClass;
use reeve_store::StoreError;
use reeve_store::dependencies::{self, Target};
use reeve_store::jobs::admission::{self, Found, Named, TeamRaise, TeamRow};
use reeve_store::queues::Queue;
use reeve_store::reach::Reach;
use reeve_store::submit::SeenQueue;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use uuid::Uuid;

/// A submission with everything that it names.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) spec: JobSpec,
    pub(super) team: TeamRow,
    pub(super) queue: Queue,
    pub(super) priority: PriorityClass,
    pub(super) pools: Vec<PoolId>,
    pub(super) pool_slugs: Vec<String>,
    pub(super) warnings: Vec<Warning>,
    /// The active escalation of its team that raises it, if any.
    pub(super) raise: Option<TeamRaise>,
    /// The queue, and those that were passed over for it.
    pub(super) seen: Vec<SeenQueue>,
}

/// Why a batch is not taken.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Wrong in itself, all faults of all jobs.
    Faults(Vec<Fault>),
    /// The caller may not submit to this team.
    Forbidden { team: String },
}

/// What an admission stands on.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    policy: Arc<Policy>,
    reaches: Arc<Vec<Reach>>,
    found: Arc<Found>,
    /// Jobs that are waited for, as far as they exist.
    awaited: Arc<BTreeMap<Uuid, Target>>,
    now: DateTime<Utc>,
    budgets: Arc<Gate>,
}

impl Facts {
    pub(super) fn policy_version(&self) -> i64 {
        self.found.policy_version
    }
}

/// Looks up what the submissions name, now.
pub(super) async fn look_up(app: &AppState, raws: &[&RawJob]) -> Result<Facts, StoreError> {
    let unique = |names: BTreeSet<&String>| names.into_iter().cloned().collect::<Vec<_>>();
    let named = Named {
        teams: unique(raws.iter().map(|raw| &raw.team).collect()),
        queues: unique(raws.iter().filter_map(|raw| raw.queue.as_ref()).collect()),
        levels: raws.iter().any(|raw| names_levels(raw)),
    };
    let found = Arc::new(admission::look_up(&app.store, &named).await?);
    let now = app.clock.now();
    for raw in raws {
        app.installation.learn(&raw.team, raw.queue.as_deref(), &found, now);
    }
    let awaited = raws.iter().flat_map(|raw| &raw.depends_on).filter_map(|on| on.job.parse().ok());
    let awaited: BTreeSet<Uuid> = awaited.collect();
    let mut facts = facts(app, found).await?;
    if !awaited.is_empty() {
        let targets = dependencies::targets(&app.store, &awaited.into_iter().collect::<Vec<_>>()).await?;
        facts.awaited = Arc::new(targets.into_iter().map(|target| (target.id, target)).collect());
    }
    Ok(facts)
}

/// The same for each submission by itself, from the last look where there was one lately.
pub(super) async fn recall(app: &AppState, raws: &[&RawJob]) -> Result<Vec<Facts>, StoreError> {
    let now = app.clock.now();
    let known = |raw: &RawJob| match names_levels(raw) || !raw.depends_on.is_empty() {
        true => None,
        false => app.installation.names(&raw.team, raw.queue.as_deref(), now),
    };
    let known: Vec<Option<Arc<Found>>> = raws.iter().map(|raw| known(raw)).collect();
    let unknown: Vec<&RawJob> =
        raws.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(raw, _)| *raw).collect();
    let looked = if unknown.is_empty() { None } else { Some(look_up(app, &unknown).await?) };
    let mut recalled = Vec::with_capacity(raws.len());
    for found in known {
        match (found, &looked) {
            (Some(found), _) => recalled.push(facts(app, found).await?),
            (None, looked) => recalled.extend(looked.clone()),
        }
    }
    Ok(recalled)
}

async fn facts(app: &AppState, found: Arc<Found>) -> Result<Facts, StoreError> {
    Ok(Facts {
        policy: app.installation.policy(&app.store, found.policy_version).await?,
        reaches: app.installation.reaches(&app.store, &found.pools, app.clock.now()).await?,
        budgets: app.budgets.gate(&app.store, app.clock.now()).await?,
        found,
        awaited: Arc::default(),
        now: app.clock.now(),
    })
}

fn names_levels(raw: &RawJob) -> bool {
    raw.require_topology.is_some() || raw.prefer_topology.is_some()
}

/// Admits all or none. `prefix` comes before the pointers of the n-th job's faults.
pub(super) fn admit(
    facts: &Facts,
    actor: &Actor,
    raws: Vec<RawJob>,
    prefix: impl Fn(usize) -> String,
) -> Result<Vec<Admitted>, Refusal> {
    let mut faults = Vec::new();
    let mut specs = Vec::with_capacity(raws.len());
    for (index, raw) in raws.into_iter().enumerate() {
        match parse(raw) {
            Ok(spec) => specs.push((index, spec)),
            Err(found) => faults.extend(found.into_iter().map(|fault| fault.below(&prefix(index)))),
        }
    }
    let mut admitted = Vec::with_capacity(specs.len());
    for (index, spec) in specs {
        let resolved = resolve(spec, facts).and_then(|job| match unfit(&job.spec, facts, actor) {
            faults if faults.is_empty() => Ok(job),
            faults => Err(faults),
        });
        match resolved {
            Ok(job) => {
                let team = TeamId(job.team.id);
                if may(actor, Action::JobSubmit, &Resource::Team(team)) != Verdict::Allowed {
                    return Err(Refusal::Forbidden { team: job.team.slug });
                }
                admitted.push(job);
            }
            Err(found) => faults.extend(found.into_iter().map(|fault| fault.below(&prefix(index)))),
        }
    }
    if faults.is_empty() { Ok(admitted) } else { Err(Refusal::Faults(faults)) }
}

fn resolve(spec: JobSpec, facts: &Facts) -> Result<Admitted, Vec<Fault>> {
    let Some(team) = facts.found.teams.iter().find(|team| names(&spec.team, team.id, &team.slug)) else {
        let detail = "there is no such team (or it was deleted): give a team's slug or id";
        return Err(vec![Fault::new("/team", "unknown_team", detail)]);
    };
    let mut faults = unknown_levels(&spec, &facts.found.levels);
    let queue = queue(&spec, team, &facts.found.queues).map_err(|fault| faults.push(fault)).ok();
    let pools = pools(&spec, &facts.reaches, &mut faults);
    let teams: Vec<&str> = team.path.iter().map(String::as_str).collect();
    let place = Place { queue: queue.map(|queue| queue.slug.as_str()), teams: &teams };
    let raise = queue.and_then(|queue| raise(&spec, team, queue, facts));
    let level = raise.as_ref().and_then(|raise| raise.level.parse().ok());
    let priority =
        priority_class(&spec, &facts.policy, place, level).map_err(|fault| faults.push(fault)).ok();
    if let Some(class) = priority {
        faults.extend(facts.budgets.fault(TeamId(team.id), class));
    }
    match queue.zip(priority) {
        Some((queue, priority)) if faults.is_empty() => {
            let ids = pools.iter().map(|reach| PoolId(reach.pool_id)).collect();
            let pool_slugs = pools.iter().map(|reach| reach.reach.slug.clone()).collect();
            let open = if pools.is_empty() { facts.reaches.iter().collect() } else { pools };
            let reaches: Vec<PoolReach> = open.iter().map(|reach| reach.reach.clone()).collect();
            let raise = raise.filter(|_| level > Some(priority));
            let mut warnings = warnings(&spec, &reaches);
            warnings.extend(
                raise
                    .as_ref()
                    .filter(|_| spec.priority > Some(priority))
                    .map(|raise| raised(raise, priority)),
            );
            let seen = seen(&spec, team, queue, &facts.found.queues);
            let (team, queue) = (team.clone(), queue.clone());
            Ok(Admitted { spec, team, queue, priority, pools: ids, pool_slugs, warnings, raise, seen })
        }
        _ => Err(faults),
    }
}

/// Dependencies on what the caller may not know of, or on ends that were other than wanted.
fn unfit(spec: &JobSpec, facts: &Facts, actor: &Actor) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (index, on) in spec.depends_on.iter().enumerate() {
        let target = facts.awaited.get(&on.job.0).filter(|target| {
            let resource = Resource::Job { team: TeamId(target.team_id), owner: UserId(target.user_id) };
            may(actor, Action::JobRead, &resource) == Verdict::Allowed
        });
        let pointer = format!("/depends_on/{index}");
        let Some(target) = target else {
            let detail = "there is no such job: give the id of one that was submitted before";
            faults.push(Fault::new(format!("{pointer}/job"), "unknown_job", detail));
            continue;
        };
        let never = match on.condition {
            DependencyCondition::Any => false,
            DependencyCondition::Ok => matches!(target.state.as_str(), "failed" | "cancelled"),
            DependencyCondition::Failed => target.state == "succeeded",
        };
        if never {
            let detail = format!("that job has {} already: the condition can never be met", target.state);
            faults.push(Fault::new(format!("{pointer}/condition"), "never_met", detail));
        }
    }
    faults
}

/// The highest that is active for such jobs of the team.
fn raise(spec: &JobSpec, team: &TeamRow, queue: &Queue, facts: &Facts) -> Option<TeamRaise> {
    let reaches = |raise: &&TeamRaise| {
        team.path.contains(&raise.team_slug)
            && raise.queue_id.is_none_or(|only| only == queue.id)
            && raise.kinds.as_ref().is_none_or(|kinds| kinds.iter().any(|kind| kind == spec.kind.as_str()))
            && raise.expires_at > facts.now
    };
    let raises = facts.found.raises.iter().filter(reaches);
    raises.max_by_key(|raise| (raise.level.parse::<PriorityClass>().ok(), raise.expires_at)).cloned()
}

/// Above its ceiling a job stands by its team's escalation only.
fn raised(raise: &TeamRaise, class: PriorityClass) -> Warning {
    Warning {
        code: "raised_for_a_time",
        detail: format!(
            "it counts as {} until {} by escalation {}, and as {class} afterwards",
            raise.level,
            raise.expires_at.format("%Y-%m-%dT%H:%M:%SZ"),
            raise.escalation_id
        ),
    }
}

fn queue<'a>(spec: &JobSpec, team: &TeamRow, queues: &'a [Queue]) -> Result<&'a Queue, Fault> {
    let mut own = queues.iter().filter(|queue| queue.team_id == team.id);
    let Some(name) = &spec.queue else {
        return own.find(|queue| takes(queue, spec).is_ok()).ok_or_else(|| {
            let detail = format!(
                "team {} has no queue that takes {} jobs: create one, or name a team that has one",
                team.slug, spec.kind
            );
            Fault::new("/queue", "no_queue", detail)
        });
    };
    let Some(queue) = queues.iter().find(|queue| names(name, queue.id, &queue.slug)) else {
        let known: Vec<&str> = own.map(|queue| queue.slug.as_str()).collect();
        let detail = if known.is_empty() {
            format!("there is no such queue, and team {} has none: create one first", team.slug)
        } else {
            format!("there is no such queue: team {} has {}", team.slug, known.join(", "))
        };
        return Err(Fault::new("/queue", "unknown_queue", detail));
    };
    if queue.team_id != team.id {
        let detail = format!("queue {} belongs to another team: use a queue of {}", queue.slug, team.slug);
        return Err(Fault::new("/queue", "queue_of_other_team", detail));
    }
    takes(queue, spec).map(|()| queue)
}

/// What the choice of `chosen` stood on: without a name, also the older queues that did not take the job.
fn seen(spec: &JobSpec, team: &TeamRow, chosen: &Queue, queues: &[Queue]) -> Vec<SeenQueue> {
    let own = queues.iter().filter(|queue| queue.team_id == team.id);
    let stood_on = own.take_while(|queue| spec.queue.is_none() && queue.id != chosen.id).chain([chosen]);
    stood_on
        .map(|queue| SeenQueue {
            queue_id: queue.id,
            queue_version: queue.version,
            team_version: team.version,
        })
        .collect()
}

fn takes(queue: &Queue, spec: &JobSpec) -> Result<(), Fault> {
    // Words that the schema's CHECK does not let in cannot be read back either.
    let state = queue.state.parse().unwrap_or(reeve_core::queue::QueueState::Held);
    let allowed_kinds =
        queue.allowed_kinds.as_ref().map(|kinds| kinds.iter().filter_map(|kind| kind.parse().ok()).collect());
    queue_takes(&QueueRules { slug: queue.slug.clone(), state, allowed_kinds }, spec.kind)
}

fn pools<'a>(spec: &JobSpec, reaches: &'a [Reach], faults: &mut Vec<Fault>) -> Vec<&'a Reach> {
    let mut found = Vec::new();
    for (index, name) in spec.pools.iter().enumerate() {
        match reaches.iter().find(|reach| names(name, reach.pool_id, &reach.reach.slug)) {
            Some(reach) => found.push(reach),
            None => {
                let known: Vec<&str> = reaches.iter().map(|reach| reach.reach.slug.as_str()).collect();
                let detail = if known.is_empty() {
                    "there is no such pool, and none at all yet".to_owned()
                } else {
                    format!("there is no such pool: use one of {}", known.join(", "))
                };
                faults.push(Fault::new(format!("/pools/{index}"), "unknown_pool", detail));
            }
        }
    }
    found
}

fn names(text: &str, id: uuid::Uuid, slug: &str) -> bool {
    text == slug || text.parse() == Ok(id)
}
