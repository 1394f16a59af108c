//! One job, and what only its page shows.

use super::row::{JobRow, select_jobs};
use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::WriteTx;
use chrono::{DateTime, Utc};
use reeve_core::id::JobId;
use std::collections::BTreeMap;
use uuid::Uuid;

/// One job.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn get(store: &Store, id: JobId) -> Result<JobRow, StoreError> {
    Ok(select_jobs!("where j.id = $1", id.0).fetch_one(store.pool()).await?)
}

/// One job as this transaction has left it.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn get_in(tx: &mut WriteTx, id: JobId) -> Result<JobRow, StoreError> {
    Ok(select_jobs!("where j.id = $1", id.0).fetch_one(tx.connection()).await?)
}

/// How much of each job sits on a loan, in milli-GPU. The ledger lends to teams, not to jobs: inside a team the
/// guarantee goes to the higher class first, then to the earlier start, and the rest of its jobs share the loan.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn borrowed(store: &Store, jobs: &[Uuid]) -> Result<BTreeMap<Uuid, i64>, StoreError> {
    let rows = sqlx::query!(
        r#"with places as (
             select distinct i.team_id, i.pool_id from usage_intervals i
             where i.ended_at is null and i.job_id = any($1)
           ),
           standing as (
             select i.job_id, i.gpu_milli, i.team_id, i.pool_id,
                    sum(i.gpu_milli) over (partition by i.team_id, i.pool_id
                      order by array_position(array['critical', 'high', 'normal', 'low', 'scavenger'],
                                              i.priority_class), r.placed_at, i.job_id) as upto
             from places join usage_intervals i using (team_id, pool_id) join runs r on r.id = i.run_id
             where i.ended_at is null
           ),
           owed as (
             select p.team_id, p.pool_id,
                    (select sum(i.gpu_milli) from usage_intervals i
                     where i.ended_at is null and i.team_id = p.team_id and i.pool_id = p.pool_id)
                    - coalesce((select sum(l.gpu_milli) from loans l
                                where l.ended_at is null and l.borrower_team_id = p.team_id
                                  and l.pool_id = p.pool_id), 0) as own
             from places p
           )
           select s.job_id, least(s.gpu_milli, greatest(0, s.upto - o.own))::bigint as "milli!"
           from standing s join owed o using (team_id, pool_id)
           where s.job_id = any($1)"#,
        jobs
    )
    .fetch_all(store.pool())
    .await?;
    Ok(rows.into_iter().map(|row| (row.job_id, row.milli)).collect())
}

/// One attempt of a job.
#[derive(Debug, Clone)]
pub struct RunRow {
    pub id: Uuid,
    pub number: i32,
    pub state: String,
    pub pool_id: Option<Uuid>,
    pub pool_slug: Option<String>,
    pub resume: bool,
    pub placed_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    pub exit_code: Option<i32>,
    pub signal: Option<String>,
    pub end_detail: Option<String>,
    pub leave_cause: Option<String>,
    pub leave_by: Option<DateTime<Utc>>,
}

/// One member of a run.
#[derive(Debug, Clone)]
pub struct MemberRow {
    pub run_id: Uuid,
    pub member: i32,
    pub node_id: Uuid,
    pub node_name: String,
    pub gpu_indices: Vec<i32>,
    pub gpu_milli: i64,
    pub state: String,
    pub pid: Option<i64>,
    pub started_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    pub checkpointed_at: Option<DateTime<Utc>>,
    pub exit_code: Option<i32>,
    pub signal: Option<String>,
    pub end_detail: Option<String>,
}

/// A job's runs, newest first, before a number.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn runs(
    store: &Store,
    job: JobId,
    before: Option<i32>,
    limit: i64,
) -> Result<Vec<RunRow>, StoreError> {
    Ok(sqlx::query_as!(
        RunRow,
        r#"select r.id, r.number, r.state, r.pool_id, p.slug as "pool_slug?", r.resume, r.placed_at, r.started_at,
                  r.ended_at, r.exit_code, r.signal, r.end_detail, r.leave_cause, r.leave_by
           from runs r left join pools p on p.id = r.pool_id
           where r.job_id = $1 and ($2::integer is null or r.number < $2)
           order by r.number desc limit $3"#,
        job.0,
        before,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// The members of these runs, in rank order.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn members(store: &Store, runs: &[Uuid]) -> Result<Vec<MemberRow>, StoreError> {
    Ok(sqlx::query_as!(
        MemberRow,
        r#"select m.run_id, m.member, m.node_id, n.name as node_name,
                  array(select g.index from member_gpus h join gpus g on g.id = h.gpu_id
                        where h.run_id = m.run_id and h.member = m.member order by g.index) as "gpu_indices!",
                  (select coalesce(sum(h.milli), 0)::bigint from member_gpus h
                   where h.run_id = m.run_id and h.member = m.member) as "gpu_milli!",
                  m.state, m.pid, m.started_at, m.ended_at, m.checkpointed_at, m.exit_code, m.signal, m.end_detail
           from members m join nodes n on n.id = m.node_id
           where m.run_id = any($1) order by m.run_id, m.member"#,
        runs
    )
    .fetch_all(store.pool())
    .await?)
}

/// What a node offers a member now: evidence for an explanation.
#[derive(Debug, Clone)]
pub struct NodeOffer {
    pub node_id: Uuid,
    pub node_name: String,
    pub pool_id: Uuid,
    pub pool_slug: String,
    pub state: String,
    pub free_gpus: i64,
    /// Devices with enough of a share left.
    pub fitting_devices: i64,
    pub model_fits: bool,
    pub cpu_fits: bool,
    pub memory_fits: bool,
    pub labels_fit: bool,
    pub rdma_fits: bool,
    pub nominated_gpus: i64,
    /// In maintenance, or too near it for the job's time limit.
    pub maintained: bool,
}

/// The nodes of the pools that a job accepts, the freest first. `lead_secs`: how long before its maintenance a node takes
/// no job without a time limit.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn offers(
    store: &Store,
    job: JobId,
    now: DateTime<Utc>,
    lead_secs: i64,
    limit: i64,
) -> Result<Vec<NodeOffer>, StoreError> {
    Ok(sqlx::query_as!(
        NodeOffer,
        r#"select n.id as node_id, n.name as node_name, n.pool_id, p.slug as pool_slug, n.state,
                  count(g.id) filter (where g.health = 'healthy' and g.free_milli = 1000) as "free_gpus!",
                  count(g.id) filter (where g.health = 'healthy' and g.free_milli >= coalesce(j.gpu_milli, 1000)
                    and g.free_memory_mib >= coalesce(j.gpu_memory_mib, 0)) as "fitting_devices!",
                  (j.gpus = 0 or j.gpu_model is null or coalesce(bool_or(g.model = j.gpu_model), false))
                    as "model_fits!",
                  n.free_cpu_milli >= j.cpu_milli as "cpu_fits!", n.free_memory_mib >= j.memory_mib as "memory_fits!",
                  n.labels @> j.node_labels as "labels_fit!", (n.rdma or not j.rdma) as "rdma_fits!",
                  (select count(*) from reclaims c, jsonb_array_elements(c.nomination) as place,
                          jsonb_array_elements(place -> 'gpus')
                   where c.state = 'waiting' and c.evictor_job_id <> j.id and place ->> 'node' = n.id::text)
                    as "nominated_gpus!",
                  exists (select 1 from maintenance_window_nodes m join maintenance_windows w on w.id = m.window_id
                          where m.node_id = n.id and w.ends_at > $3::timestamptz
                            and (w.starts_at <= $3 or w.starts_at < $3::timestamptz
                                 + coalesce(j.time_limit_secs, $4::bigint) * interval '1 second'))
                    as "maintained!"
           from jobs j join nodes n on n.state <> 'removed'
             and (cardinality(j.pool_ids) = 0 or n.pool_id = any(j.pool_ids))
           join pools p on p.id = n.pool_id and p.state = 'active'
           left join gpus g on g.node_id = n.id
           where j.id = $1
           group by n.id, p.id, j.id
           order by 7 desc, 6 desc, n.name limit $2"#,
        job.0,
        limit,
        now,
        lead_secs
    )
    .fetch_all(store.pool())
    .await?)
}
