//! From submissions to jobs that can be kept: look all their names up at once, parse each, check rights. A submission is
//! one look and one statement, however many jobs it has.

use crate::app::AppState;
use reeve_core::access::{Action, Actor, Resource, Verdict, may};
use reeve_core::id::{PoolId, TeamId};
use reeve_core::job_spec::admit::{PoolReach, QueueRules, Warning, queue_takes, unknown_levels, warnings};
use reeve_core::job_spec::parse::parse;
use reeve_core::job_spec::{Fault, JobSpec, RawJob};
use reeve_core::policy::Policy;
use reeve_store::StoreError;
use reeve_store::idempotency::{IdempotencyKey, Known};
use reeve_store::jobs::admission::{self, Named, TeamRow};
use reeve_store::queues::Queue;
use reeve_store::reach::Reach;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A submission with everything that it names.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) spec: JobSpec,
    pub(super) team: TeamRow,
    pub(super) queue: Queue,
    pub(super) pools: Vec<PoolId>,
    pub(super) pool_slugs: Vec<String>,
    pub(super) warnings: Vec<Warning>,
}

/// Why a batch is not taken.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Wrong in itself, all faults of all jobs.
    Faults(Vec<Fault>),
    /// The caller may not submit to this team.
    Forbidden { team: String },
}

/// What the installation has, looked up once for the whole batch.
pub(super) struct Facts {
    /// What was answered to the request's key before.
    pub(super) known: Known,
    policy: Arc<Policy>,
    teams: Vec<TeamRow>,
    queues: Vec<Queue>,
    reaches: Arc<Vec<Reach>>,
    levels: BTreeSet<String>,
}

/// Looks up what the submissions name.
pub(super) async fn look_up(
    app: &AppState,
    key: Option<&IdempotencyKey>,
    raws: &[RawJob],
) -> Result<Facts, StoreError> {
    let unique = |names: BTreeSet<&String>| names.into_iter().cloned().collect::<Vec<_>>();
    let named = Named {
        teams: unique(raws.iter().map(|raw| &raw.team).collect()),
        queues: unique(raws.iter().filter_map(|raw| raw.queue.as_ref()).collect()),
        levels: raws.iter().any(|raw| raw.require_topology.is_some() || raw.prefer_topology.is_some()),
    };
    let found = admission::look_up(&app.store, key, &named).await?;
    Ok(Facts {
        policy: app.installation.policy(&app.store, found.policy_version).await?,
        reaches: app.installation.reaches(&app.store, &found.pools, app.clock.now()).await?,
        known: found.known,
        teams: found.teams,
        queues: found.queues,
        levels: found.levels,
    })
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
        match parse(raw, &facts.policy) {
            Ok(spec) => specs.push((index, spec)),
            Err(found) => faults.extend(found.into_iter().map(|fault| fault.below(&prefix(index)))),
        }
    }
    let mut admitted = Vec::with_capacity(specs.len());
    for (index, spec) in specs {
        match resolve(spec, facts) {
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
    let Some(team) = facts.teams.iter().find(|team| names(&spec.team, team.id, &team.slug)) else {
        let detail = "there is no such team (or it was deleted): give a team's slug or id";
        return Err(vec![Fault::new("/team", "unknown_team", detail)]);
    };
    let mut faults = unknown_levels(&spec, &facts.levels);
    let queue = queue(&spec, team, &facts.queues).map_err(|fault| faults.push(fault)).ok();
    let pools = pools(&spec, &facts.reaches, &mut faults);
    match queue {
        Some(queue) if faults.is_empty() => {
            let ids = pools.iter().map(|reach| PoolId(reach.pool_id)).collect();
            let pool_slugs = pools.iter().map(|reach| reach.reach.slug.clone()).collect();
            let open = if pools.is_empty() { facts.reaches.iter().collect() } else { pools };
            let reaches: Vec<PoolReach> = open.iter().map(|reach| reach.reach.clone()).collect();
            let warnings = warnings(&spec, &reaches);
            Ok(Admitted { spec, team: team.clone(), queue: queue.clone(), pools: ids, pool_slugs, warnings })
        }
        _ => Err(faults),
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
