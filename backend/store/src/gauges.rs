//! What a monitoring system asks for: use of every quota, pools, jobs, loans and notices, in one statement.
//!
//! Names are slugs, never ids of jobs or people. More than [`MOST_ROWS`] of a kind are cut off and counted: this module
//! refuses to let an installation's size decide how much a scrape costs.

use crate::connect::Store;
use crate::error::StoreError;
use crate::quota_use::with_use;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

/// Most (team, pool) pairs, and most (team, state) pairs.
pub const MOST_ROWS: i64 = 5_000;

/// A team in a pool, everything below it included; amounts in milli-GPU unless named otherwise.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TeamGauge {
    pub team: String,
    /// The team above, whether it has a quota there or not.
    pub parent: Option<String>,
    pub pool: String,
    pub guaranteed_gpus: i64,
    pub borrow_limit_gpus: Option<i64>,
    pub weight: i64,
    pub used: i64,
    pub leaving: i64,
    pub borrowed: i64,
    pub lent: i64,
    pub pending: i64,
    pub pending_jobs: i64,
    pub waiting_since: Option<DateTime<Utc>>,
    pub reclaim_due: bool,
}

/// A pool; amounts in milli-GPU.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PoolGauge {
    pub pool: String,
    pub mode: String,
    /// Of nodes that are not removed.
    pub capacity: i64,
    /// Healthy ones of nodes that are ready.
    pub usable: i64,
    pub free: i64,
    pub leaving: i64,
    pub nodes_ready: i64,
    pub nodes_cordoned: i64,
    pub nodes_draining: i64,
    pub nodes_lost: i64,
    pub pending: i64,
    pub pending_jobs: i64,
    pub loans: i64,
    pub loaned: i64,
    pub reclaims_waiting: i64,
}

/// Jobs of a team itself in a live state.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct JobGauge {
    pub team: String,
    pub state: String,
    pub jobs: i64,
}

/// Jobs that were told to go and have not gone yet.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NoticeGauge {
    pub pool: String,
    pub cause: String,
    pub notices: i64,
    /// Milli-GPU.
    pub amount: i64,
}

/// Everything at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Gauges {
    pub teams: Vec<TeamGauge>,
    pub pools: Vec<PoolGauge>,
    pub jobs: Vec<JobGauge>,
    pub notices: Vec<NoticeGauge>,
    /// (team, pool) pairs that were cut off.
    pub teams_left_out: i64,
}

struct Row {
    teams: Value,
    pools: Value,
    jobs: Value,
    notices: Value,
    pairs: i64,
}

/// The statement, behind the common tables of use.
macro_rules! select_gauges {
    () => {
        with_use!(
            Row,
            r#", pairs as (
             select q.team_id, q.pool_id from quotas q union select f.team_id, f.pool_id from figures f
           ), teams_now as (
             select t.slug as team, u.slug as parent, p.slug as pool, coalesce(q.guaranteed_gpus, 0) as guaranteed_gpus,
                    q.borrow_limit_gpus, coalesce(q.weight, 1) as weight, coalesce(f.used, 0) as used,
                    coalesce(f.leaving, 0) as leaving, coalesce(f.borrowed, 0) as borrowed, coalesce(f.lent, 0) as lent,
                    coalesce(f.pending, 0) as pending, coalesce(f.jobs, 0) as pending_jobs, f.since as waiting_since,
                    coalesce(f.due, false) as reclaim_due
             from pairs x join teams t on t.id = x.team_id and t.state = 'active'
             join pools p on p.id = x.pool_id and p.state = 'active'
             left join teams u on u.id = t.parent_id
             left join quotas q on q.team_id = x.team_id and q.pool_id = x.pool_id
             left join figures f on f.team_id = x.team_id and f.pool_id = x.pool_id
             order by p.slug, t.slug limit $2
           ), of_gpus as (
             select n.pool_id, count(*) * 1000 as capacity,
                    count(*) filter (where g.health = 'healthy' and n.state = 'ready') * 1000 as usable,
                    coalesce(sum(g.free_milli) filter (where g.health = 'healthy' and n.state = 'ready'), 0) as free
             from gpus g join nodes n on n.id = g.node_id where n.state <> 'removed' group by 1
           ), of_nodes as (
             select pool_id, count(*) filter (where state = 'ready') as ready,
                    count(*) filter (where state = 'cordoned') as cordoned,
                    count(*) filter (where state = 'draining') as draining,
                    count(*) filter (where state = 'lost') as lost
             from nodes group by 1
           ), of_leaving as (
             select n.pool_id, sum(h.milli) as leaving
             from members m join member_gpus h on h.run_id = m.run_id and h.member = m.member
             join nodes n on n.id = m.node_id where m.state <> 'ended' and m.stop_order is not null group by 1
           ), of_waiting as (
             select pool_id, sum(jobs) as jobs, sum(milli) as milli from waiting group by 1
           ), of_loans as (
             select pool_id, count(*) as loans, sum(gpu_milli) as loaned from loans where ended_at is null group by 1
           ), of_reclaims as (
             select pool_id, count(*) as reclaims from reclaims where state = 'waiting' group by 1
           ), pools_now as (
             select p.slug as pool, p.mode, coalesce(g.capacity, 0) as capacity, coalesce(g.usable, 0) as usable,
                    coalesce(g.free, 0) as free, coalesce(l.leaving, 0) as leaving, coalesce(n.ready, 0) as nodes_ready,
                    coalesce(n.cordoned, 0) as nodes_cordoned, coalesce(n.draining, 0) as nodes_draining,
                    coalesce(n.lost, 0) as nodes_lost, coalesce(w.milli, 0) as pending, coalesce(w.jobs, 0) as pending_jobs,
                    coalesce(o.loans, 0) as loans, coalesce(o.loaned, 0) as loaned, coalesce(r.reclaims, 0) as reclaims_waiting
             from pools p left join of_gpus g on g.pool_id = p.id left join of_nodes n on n.pool_id = p.id
             left join of_leaving l on l.pool_id = p.id left join of_waiting w on w.pool_id = p.id
             left join of_loans o on o.pool_id = p.id left join of_reclaims r on r.pool_id = p.id
             where p.state = 'active' order by p.slug limit $2
           ), jobs_now as (
             select t.slug as team, j.state, j.jobs
             from (select team_id, state, count(*) as jobs from jobs
                   where state in ('queued', 'starting', 'running', 'leaving') group by 1, 2) j
             join teams t on t.id = j.team_id and t.state = 'active' order by t.slug, j.state limit $2
           ), notices_now as (
             select p.slug as pool, e.cause, count(*) as notices, sum(e.gpu_milli) as amount
             from evictions e join reclaims c on c.id = e.reclaim_id join pools p on p.id = c.pool_id
             where e.outcome = 'leaving' group by 1, 2 order by 1, 2 limit $2
           )
           select coalesce((select jsonb_agg(t) from teams_now t), '[]') as "teams!",
                  coalesce((select jsonb_agg(p) from pools_now p), '[]') as "pools!",
                  coalesce((select jsonb_agg(j) from jobs_now j), '[]') as "jobs!",
                  coalesce((select jsonb_agg(n) from notices_now n), '[]') as "notices!",
                  (select count(*) from pairs x join teams t on t.id = x.team_id and t.state = 'active'
                   join pools p on p.id = x.pool_id and p.state = 'active') as "pairs!""#,
            None::<Uuid>,
            MOST_ROWS
        )
    };
}

/// Reads them.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn read(store: &Store) -> Result<Gauges, StoreError> {
    let row = select_gauges!().fetch_one(store.pool()).await?;
    let teams: Vec<TeamGauge> = serde_json::from_value(row.teams)?;
    Ok(Gauges {
        teams_left_out: row.pairs - i64::try_from(teams.len()).unwrap_or(0),
        teams,
        pools: serde_json::from_value(row.pools)?,
        jobs: serde_json::from_value(row.jobs)?,
        notices: serde_json::from_value(row.notices)?,
    })
}
