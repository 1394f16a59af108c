//! `GET /jobs`.

use super::view::{JobView, views};
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Readable, Resource};
use reeve_core::id::{PoolId, QueueId, UserId};
use reeve_core::job::JobState;
use reeve_core::kind::Kind;
use reeve_core::reason::ReasonCode;
use reeve_core::status::UnknownText;
use reeve_store::jobs::{admission, list as jobs};
use reeve_store::page::Page;
use reeve_store::{pools, queues, teams};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobFilter {
    /// A team's slug or id, everything below it included.
    team: Option<String>,
    /// A queue's slug or id.
    queue: Option<String>,
    /// Repeat for several.
    #[serde(default)]
    state: Vec<String>,
    kind: Option<String>,
    /// A username or id.
    user: Option<String>,
    /// A pool's slug or id: accepted by the job, or where it runs.
    pool: Option<String>,
    /// A part of the name, in any case.
    name_contains: Option<String>,
    /// Why it waits.
    reason: Option<String>,
    /// A label as `name=value`; repeat for several, which the job must all have.
    #[serde(default)]
    label: Vec<String>,
    /// With counts by state, which obey all filters but `state`.
    count: Option<bool>,
}

/// A page of jobs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JobPage {
    items: Vec<JobView>,
    next_cursor: Option<String>,
    /// By state, when asked for; each stops at 100,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<BTreeMap<String, i64>>,
}

/// Jobs that the caller may see, newest first.
#[utoipa::path(get, path = "/api/v1/jobs", operation_id = "list_jobs", tag = "jobs", params(JobFilter, ListParams),
    responses((status = 200, body = JobPage)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<JobFilter>,
) -> Result<Response> {
    // Anybody may ask; the filter below shows only what the caller may read.
    app.allow(&caller, Action::QueueRead, &Resource::Installation).await?;
    let filter = filter(&app, &caller, &list.filter).await?;
    let rows = jobs::list(&app.store, &filter, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |job| job.id);
    let counts = match list.filter.count {
        Some(true) => Some(jobs::counts(&app.store, &filter).await?),
        _ => None,
    };
    let items = views(&app.store, page.items).await?;
    Ok(list.reply_with(Page { items, next_cursor: page.next_cursor }, |items, next_cursor| JobPage {
        items,
        next_cursor,
        counts,
    }))
}

async fn filter(app: &AppState, caller: &Caller, asked: &JobFilter) -> Result<jobs::Filter> {
    for state in &asked.state {
        known::<JobState>("state", Some(state))?;
    }
    known::<Kind>("kind", asked.kind.as_ref())?;
    known::<ReasonCode>("reason", asked.reason.as_ref())?;
    let mut filter = jobs::Filter {
        readable: match caller.actor.readable() {
            Readable::Everything => None,
            Readable::Teams(teams) => Some(teams.into_iter().map(|team| team.0).collect()),
        },
        states: (!asked.state.is_empty()).then(|| asked.state.clone()),
        kind: asked.kind.clone(),
        name_contains: asked.name_contains.clone(),
        reason: asked.reason.clone(),
        labels: labels(&asked.label)?,
        ..jobs::Filter::default()
    };
    if let Some(team) = &asked.team {
        let team = teams::find(&app.store, team).await?.id;
        filter.teams = Some(admission::subtree(&app.store, team).await?);
    }
    if let Some(queue) = &asked.queue {
        filter.queue = Some(QueueId(queues::find(&app.store, queue).await?.id));
    }
    if let Some(user) = &asked.user {
        filter.user = Some(UserId(admission::user_id(&app.store, user).await?));
    }
    if let Some(pool) = &asked.pool {
        filter.pool = Some(PoolId(pools::find(&app.store, pool).await?.id));
    }
    Ok(filter)
}

/// `name=value` pairs as one object to look for.
fn labels(asked: &[String]) -> Result<Option<serde_json::Value>> {
    let mut wanted = serde_json::Map::new();
    for pair in asked {
        let Some((name, value)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            let remedy = format!("{pair:?} is no label: write name=value");
            return Err(Problem::new(Code::InvalidQuery).error("label", "wrong_format", remedy));
        };
        wanted.insert(name.to_owned(), value.into());
    }
    Ok((!wanted.is_empty()).then_some(wanted.into()))
}

fn known<T: FromStr<Err = UnknownText>>(name: &str, text: Option<&String>) -> Result<()> {
    match text.map(|text| text.parse::<T>()) {
        Some(Err(error)) => {
            Err(Problem::new(Code::InvalidQuery).error(name, "unknown_value", error.to_string()))
        }
        _ => Ok(()),
    }
}
