//! `GET /gpu-use/profiles`.

use super::stretch::StretchQuery;
use crate::app::AppState;
use crate::extract::{Caller, Params};
use crate::problem::Result;
use crate::refs::TeamRef;
use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use reeve_core::access::{Action, Readable, Resource};
use reeve_store::gpu_use::figures::{self, Profile};
use reeve_store::jobs::admission;
use reeve_store::teams;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Teams, queues and kinds that are told of.
const MOST: i64 = 1_000;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UseProfiles {
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    items: Vec<UseProfile>,
}

/// How the jobs of a team, queue and kind used what they asked for: hours of runs, weighed alike. Shares of compute are
/// thousandths; memory is one GPU's.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UseProfile {
    team: TeamRef,
    queue: String,
    kind: String,
    jobs: i64,
    hours: i64,
    compute_permille_p50: Option<i64>,
    compute_permille_p95: Option<i64>,
    compute_permille_max: Option<i64>,
    memory_used_mib_p50: Option<i64>,
    memory_used_mib_p95: Option<i64>,
    memory_used_mib_max: Option<i64>,
    /// What one GPU of theirs has, or the share of it that they asked for: the least of them.
    memory_asked_mib: Option<i64>,
}

/// Asked against used, of the teams that the caller may see: the first 1,000 by team, queue and kind.
#[utoipa::path(get, path = "/api/v1/gpu-use/profiles", operation_id = "list_use_profiles", tag = "usage", params(StretchQuery),
    responses((status = 200, body = UseProfiles), (status = 404, description = "no such pool or team")))]
pub(crate) async fn profiles(
    State(app): State<AppState>,
    caller: Caller,
    Params(query): Params<StretchQuery>,
) -> Result<Json<UseProfiles>> {
    app.allow(&caller, Action::QueueRead, &Resource::Installation).await?;
    let asked = query.asked(&app).await?;
    let mut teams: Option<Vec<Uuid>> = match caller.actor.readable() {
        Readable::Everything => None,
        Readable::Teams(teams) => Some(teams.into_iter().map(|team| team.0).collect()),
    };
    if let Some(team) = &query.team {
        let below = admission::subtree(&app.store, teams::find(&app.store, team).await?.id).await?;
        teams = Some(match teams {
            Some(readable) => below.into_iter().filter(|team| readable.contains(team)).collect(),
            None => below,
        });
    }
    let rows = figures::profiles(&app.store, &asked, teams.as_deref(), MOST).await?;
    Ok(Json(UseProfiles { from: asked.from, to: asked.to, items: rows.into_iter().map(view).collect() }))
}

fn view(row: Profile) -> UseProfile {
    UseProfile {
        team: TeamRef { id: row.team_id, slug: row.team_slug, name: row.team_name },
        queue: row.queue_slug,
        kind: row.kind,
        jobs: row.jobs,
        hours: row.hours,
        compute_permille_p50: row.compute_permille_p50,
        compute_permille_p95: row.compute_permille_p95,
        compute_permille_max: row.compute_permille_max,
        memory_used_mib_p50: row.memory_used_mib_p50,
        memory_used_mib_p95: row.memory_used_mib_p95,
        memory_used_mib_max: row.memory_used_mib_max,
        memory_asked_mib: row.memory_asked_mib,
    }
}
