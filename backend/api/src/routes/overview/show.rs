//! `GET /overview`.

use super::needs::{Need, needs};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use crate::routes::pools::view::{PoolView, views as pool_views};
use crate::routes::quotas::view::{QuotaView, views as quota_views};
use axum::Json;
use axum::extract::State;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::access::{Action, Readable, Resource};
use reeve_store::beat::{self, LastTick};
use reeve_store::{overview, pools, quotas};
use serde::Serialize;
use utoipa::ToSchema;

/// More than this, and a page of pools is the better place.
const MOST_POOLS: i64 = 50;
/// More than this, and the queues page, which has pages, is the better place.
const MOST_QUOTAS: i64 = 2_000;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Overview {
    as_of: DateTime<Utc>,
    pools: Vec<PoolView>,
    /// The caller's teams; all for those who read everything.
    teams: Vec<QuotaView>,
    needs_me: Vec<Need>,
    /// Of the teams that the caller reads.
    jobs: LiveJobs,
    evictions_last_day: i64,
    scheduler: Scheduler,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LiveJobs {
    queued: i64,
    starting: i64,
    running: i64,
    leaving: i64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Scheduler {
    /// Null = it has never looked.
    last_tick_at: Option<DateTime<Utc>>,
    /// How long its last look took, from its lock to its commit.
    tick_ms: Option<i64>,
    /// Jobs that it left waiting.
    pending_jobs: Option<i64>,
    /// No tick for longer than the installation allows: what is shown may be old, and nothing starts.
    silent: bool,
}

impl Scheduler {
    fn new(app: &AppState, last: Option<LastTick>) -> Self {
        let tick = last.and_then(|last| last.tick);
        Self {
            last_tick_at: last.map(|last| last.at),
            tick_ms: tick.map(|tick| tick.tick_ms),
            pending_jobs: tick.map(|tick| tick.pending_jobs),
            silent: app.is_silent(last),
        }
    }
}

/// Pools, the caller's quotas with their use, and what needs somebody.
#[utoipa::path(get, path = "/api/v1/overview", operation_id = "show_overview", tag = "overview", responses((status = 200, body = Overview)))]
pub(crate) async fn show(State(app): State<AppState>, caller: Caller) -> Result<Json<Overview>> {
    app.allow(&caller, Action::OverviewRead, &Resource::Installation).await?;
    let now = app.clock.now();
    let mine = match caller.actor.readable() {
        Readable::Everything => None,
        Readable::Teams(teams) => Some(teams),
    };
    let pools = pool_views(&app.store, pools::list(&app.store, None, MOST_POOLS).await?).await?;
    let mut rows = quotas::list(&app.store, &quotas::Filter::default(), None, MOST_QUOTAS).await?;
    if let Some(mine) = &mine {
        rows.retain(|quota| mine.contains(&quota.team_id.into()));
    }
    let teams = quota_views(rows, quotas::use_by_team(&app.store, None).await?, now);
    let jobs = overview::live_jobs(&app.store, mine.as_deref()).await?;
    let last = beat::last_tick(&app.store).await?;
    Ok(Json(Overview {
        as_of: now,
        needs_me: needs(&pools, &teams),
        pools,
        teams,
        jobs: LiveJobs {
            queued: jobs.queued,
            starting: jobs.starting,
            running: jobs.running,
            leaving: jobs.leaving,
        },
        evictions_last_day: overview::evictions_since(&app.store, now - TimeDelta::days(1)).await?,
        scheduler: Scheduler::new(&app, last),
    }))
}
