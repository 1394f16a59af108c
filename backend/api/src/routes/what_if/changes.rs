//! From the question to changes that the planner understands: names looked up, rights asked.

use super::body::{WhatIfChange, WhatIfNode, WhatIfPriority, WhatIfQuota};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Code, Fields, Problem, Result};
use crate::routes::jobs::imagined;
use crate::routes::policy::put::check;
use chrono::{DateTime, Utc};
use reeve_core::access::{Action, Resource};
use reeve_core::id::{JobId, NodeId, PoolId, TeamId};
use reeve_core::node::NodeState;
use reeve_core::priority::PriorityClass;
use reeve_core::schedule::snapshot::Quota;
use reeve_core::units::MilliGpu;
use reeve_core::what_if::Change;
use reeve_store::{StoreError, jobs::show, nodes, pools, teams};

const MOST_GPUS: i64 = 1_000_000;

/// What to imagine, and which jobs exist only there.
pub(super) struct Imagined {
    pub(super) changes: Vec<Change>,
    pub(super) submitted: Vec<JobId>,
}

pub(super) async fn changes(
    app: &AppState,
    caller: &Caller,
    asked: Vec<WhatIfChange>,
    now: DateTime<Utc>,
) -> Result<Imagined> {
    let mut imagined = Imagined { changes: Vec::with_capacity(asked.len()), submitted: Vec::new() };
    for (index, change) in asked.into_iter().enumerate() {
        let at = format!("/changes/{index}");
        imagined.changes.push(match change {
            WhatIfChange::Submit(job) => {
                let job = imagined::job(app, caller, *job, &format!("{at}/submit"), now).await?;
                imagined.submitted.push(job.id);
                Change::Submit(Box::new(job))
            }
            WhatIfChange::Priority(change) => {
                priority(app, caller, &change, &format!("{at}/priority")).await?
            }
            WhatIfChange::Quota(change) => quota(app, &change, &format!("{at}/quota")).await?,
            WhatIfChange::Policy(document) => {
                check(&document).map_err(|mut problem| {
                    for error in &mut problem.errors {
                        error.pointer = format!("{at}/policy{}", error.pointer);
                    }
                    problem
                })?;
                Change::Policy(document)
            }
            WhatIfChange::Node(change) => node(app, &change, &format!("{at}/node")).await?,
        });
    }
    Ok(imagined)
}

async fn priority(app: &AppState, caller: &Caller, change: &WhatIfPriority, at: &str) -> Result<Change> {
    let job = show::get(&app.store, JobId(change.job)).await?;
    app.allow(caller, Action::JobRead, &Resource::Job { team: job.team(), owner: job.owner() }).await?;
    let class = word::<PriorityClass>(&change.priority, &format!("{at}/priority"), "unknown_priority")?;
    Ok(Change::Priority { job: JobId(change.job), priority: class.value() })
}

async fn quota(app: &AppState, change: &WhatIfQuota, at: &str) -> Result<Change> {
    let mut fields = Fields::new();
    fields.range(&format!("{at}/guaranteed_gpus"), change.guaranteed_gpus, 0, MOST_GPUS);
    let optional = [
        ("borrow_limit_gpus", change.borrow_limit_gpus),
        ("lend_limit_gpus", change.lend_limit_gpus),
        ("weight", change.weight),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            fields.range(&format!("{at}/{name}"), value, 0, MOST_GPUS);
        }
    }
    fields.done()?;
    let gpus = |count: i64| MilliGpu(count * 1_000);
    Ok(Change::Quota(Quota {
        team: TeamId(named(teams::find(&app.store, &change.team).await, &format!("{at}/team"), "team")?.id),
        pool: PoolId(named(pools::find(&app.store, &change.pool).await, &format!("{at}/pool"), "pool")?.id),
        guaranteed: gpus(change.guaranteed_gpus),
        borrow_limit: change.borrow_limit_gpus.map(gpus),
        lend_limit: change.lend_limit_gpus.map(gpus),
        weight: change.weight.and_then(|weight| u32::try_from(weight).ok()).unwrap_or(1),
        drain: false,
    }))
}

async fn node(app: &AppState, change: &WhatIfNode, at: &str) -> Result<Change> {
    let state = word::<NodeState>(&change.state, &format!("{at}/state"), "unknown_value")?;
    if state == NodeState::Removed {
        let mut fields = Fields::new();
        fields.add(
            format!("{at}/state"),
            "unknown_value",
            "imagine it lost: lost, cordoned, draining or ready",
        );
        fields.done()?;
    }
    let node = named(nodes::list::find(&app.store, &change.node).await, &format!("{at}/node"), "node")?;
    Ok(Change::Node { node: NodeId(node.id), state })
}

/// Names of teams, pools and nodes are everybody's to know, so one that is not there is a fault of the question.
fn named<T>(found: Result<T, StoreError>, pointer: &str, what: &str) -> Result<T> {
    match found {
        Err(StoreError::NotFound) => {
            let detail = format!("there is no such {what}: give the name or id of one that exists");
            Err(Problem::new(Code::UnknownReference).error(pointer, "unknown_reference", detail))
        }
        found => Ok(found?),
    }
}

fn word<T: std::str::FromStr<Err = reeve_core::status::UnknownText>>(
    text: &str,
    pointer: &str,
    code: &str,
) -> Result<T, Problem> {
    text.parse().map_err(|error: reeve_core::status::UnknownText| {
        let mut fields = Fields::new();
        fields.add(pointer, code, error.to_string());
        fields.done().err().unwrap_or_else(Problem::not_found)
    })
}
