//! What is used of every quota, subtrees summed: one query for all teams and pools.
//!
//! Figures come from the ledger's open intervals and the open loans, so that they add up with the bill:
//! used = inside guarantee + borrowed. A loan between two teams of one subtree is none of the subtree's.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::id::{PoolId, TeamId};
use std::collections::BTreeMap;
use uuid::Uuid;

/// One (team, pool), everything below the team included. Milli-GPU.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Use {
    pub used_milli: i64,
    pub borrowed_milli: i64,
    pub lent_milli: i64,
    /// Asked by queued jobs that accept the pool; a job that accepts several counts in each.
    pub pending_milli: i64,
    pub pending_jobs: i64,
    /// Of the used ones: asked to leave, not yet confirmed.
    pub leaving_milli: i64,
    /// Since when the longest-waiting job, not held, has waited.
    pub waiting_since: Option<DateTime<Utc>>,
    /// Jobs are leaving, or asked to, for a job of this team.
    pub reclaim_due: bool,
}

impl Use {
    /// Used inside the guarantee.
    #[must_use]
    pub const fn guaranteed_used_milli(&self) -> i64 {
        let inside = self.used_milli - self.borrowed_milli;
        if inside < 0 { 0 } else { inside }
    }

    /// How long somebody has waited although the guarantee is not used up.
    #[must_use]
    pub fn seconds_waiting_below_guarantee(&self, guaranteed_gpus: i64, now: DateTime<Utc>) -> i64 {
        match self.waiting_since {
            Some(since) if self.used_milli < guaranteed_gpus.saturating_mul(1_000) => {
                (now - since).num_seconds().max(0)
            }
            _ => 0,
        }
    }
}

/// A query behind the common tables of use: `figures` has a row for every team, everything below it included, and pool
/// where something is used, lent, borrowed, promised or waits. `$1` narrows the pool. Jobs that wait are summed up before
/// they meet the pools that they accept: the cost grows with the jobs, not with jobs times pools.
macro_rules! with_use {
    ($row:ident, $rest:literal, $($argument:expr),* $(,)?) => {
        sqlx::query_as!(
            $row,
            r#"with recursive tree(ancestor, team) as (
                 select id, id from teams
                 union all
                 select t.parent_id, tree.team from tree join teams t on t.id = tree.ancestor
                 where t.parent_id is not null
               ),
               held as (
                 select i.team_id, i.pool_id, sum(i.gpu_milli) as used,
                        coalesce(sum(i.gpu_milli) filter (where r.state = 'leaving'), 0) as leaving
                 from usage_intervals i join runs r on r.id = i.run_id
                 where i.ended_at is null and ($1::uuid is null or i.pool_id = $1)
                 group by 1, 2
               ),
               asked as (
                 select j.team_id, j.pool_ids, j.gpu_model, count(*) as jobs,
                        sum(j.gpus * coalesce(j.gpu_milli, 1000) * j.min_replicas) as milli,
                        min(case when j.run_number = 0 then j.submitted_at else coalesce(
                              (select max(r.ended_at) from runs r where r.job_id = j.id), j.submitted_at) end)
                          filter (where not j.held and not j.waits_for_jobs) as since
                 from jobs j where j.state = 'queued' group by 1, 2, 3
               ),
               waiting as (
                 select a.team_id, p.id as pool_id, sum(a.jobs) as jobs, sum(a.milli) as milli, min(a.since) as since
                 from asked a join pools p on p.state = 'active'
                  and (p.id = any(a.pool_ids) or cardinality(a.pool_ids) = 0)
                  and (a.gpu_model is null or p.gpu_model is null or a.gpu_model = p.gpu_model)
                 where $1::uuid is null or p.id = $1
                 group by 1, 2
               ),
               parts as (
                 select tree.ancestor as team_id, h.pool_id, h.used, h.leaving, 0::numeric as borrowed,
                        0::numeric as lent, 0::numeric as pending, 0::numeric as jobs, null::timestamptz as since,
                        false as due
                 from held h join tree on tree.team = h.team_id
                 union all
                 select tree.ancestor, w.pool_id, 0, 0, 0, 0, w.milli, w.jobs, w.since, false
                 from waiting w join tree on tree.team = w.team_id
                 union all
                 select b.ancestor, l.pool_id, 0, 0, l.gpu_milli, 0, 0, 0, null, false
                 from loans l join tree b on b.team = l.borrower_team_id
                 where l.ended_at is null and ($1::uuid is null or l.pool_id = $1)
                   and not exists (select 1 from tree x where x.ancestor = b.ancestor and x.team = l.lender_team_id)
                 union all
                 select a.ancestor, l.pool_id, 0, 0, 0, l.gpu_milli, 0, 0, null, false
                 from loans l join tree a on a.team = l.lender_team_id
                 where l.ended_at is null and ($1::uuid is null or l.pool_id = $1)
                   and not exists (select 1 from tree x where x.ancestor = a.ancestor and x.team = l.borrower_team_id)
                 union all
                 select tree.ancestor, c.pool_id, 0, 0, 0, 0, 0, 0, null, true
                 from reclaims c join tree on tree.team = c.evictor_team_id
                 where c.state = 'waiting' and ($1::uuid is null or c.pool_id = $1)
               ),
               figures as (
                 select team_id, pool_id, sum(used)::bigint as used, sum(leaving)::bigint as leaving,
                        sum(borrowed)::bigint as borrowed, sum(lent)::bigint as lent, sum(pending)::bigint as pending,
                        sum(jobs)::bigint as jobs, min(since) as since, bool_or(due) as due
                 from parts group by 1, 2
               )
               "# + $rest,
            $($argument),*
        )
    };
}
pub(crate) use with_use;

/// Use by (team, pool), for every pair where something is used, lent, borrowed or waits; `pool` narrows it.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn use_by_team(
    store: &Store,
    pool: Option<PoolId>,
) -> Result<BTreeMap<(TeamId, PoolId), Use>, StoreError> {
    let rows = with_use!(
        UseRow,
        r#"select team_id as "team_id!", pool_id as "pool_id!", used as "used!", leaving as "leaving!",
                  borrowed as "borrowed!", lent as "lent!", pending as "pending!", jobs as "jobs!", since, due as "due!"
           from figures"#,
        pool.map(|id| id.0)
    )
    .fetch_all(store.pool())
    .await?;
    Ok(rows.into_iter().map(|row| ((TeamId(row.team_id), PoolId(row.pool_id)), row.into())).collect())
}

struct UseRow {
    team_id: Uuid,
    pool_id: Uuid,
    used: i64,
    leaving: i64,
    borrowed: i64,
    lent: i64,
    pending: i64,
    jobs: i64,
    since: Option<DateTime<Utc>>,
    due: bool,
}

impl From<UseRow> for Use {
    fn from(row: UseRow) -> Self {
        Self {
            used_milli: row.used,
            borrowed_milli: row.borrowed,
            lent_milli: row.lent,
            pending_milli: row.pending,
            pending_jobs: row.jobs,
            leaving_milli: row.leaving,
            waiting_since: row.since,
            reclaim_due: row.due,
        }
    }
}
