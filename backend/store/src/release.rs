//! Gives back what ended members held: GPUs, cpu and memory, and closes their part of the ledger.
//!
//! Only confirmed ends are given back, each exactly once (`released_at`).

use crate::error::StoreError;
use crate::ledger;
use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

/// Releases every ended member of these runs that still holds something, but not one that finished before the rest of
/// its gang: the gang's GPUs are one allocation. GPUs and nodes are touched in id order.
pub(crate) async fn release_ended(
    connection: &mut PgConnection,
    runs: &[Uuid],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let released = sqlx::query!(
        "update members m set released_at = $2 from runs r
         where m.run_id = any($1) and m.state = 'ended' and m.released_at is null and r.id = m.run_id
           and (r.state not in ('starting', 'running') or m.stop_order is not null)
         returning m.run_id, m.member",
        runs,
        now
    )
    .fetch_all(&mut *connection)
    .await?;
    if released.is_empty() {
        return Ok(());
    }
    let of_runs: Vec<Uuid> = released.iter().map(|row| row.run_id).collect();
    let members: Vec<i32> = released.iter().map(|row| row.member).collect();
    sqlx::query!(
        "with given as (
             select h.gpu_id, sum(h.milli)::bigint as milli, sum(h.memory_mib)::bigint as memory
             from unnest($1::uuid[], $2::integer[]) as d(run, member)
             join member_gpus h on h.run_id = d.run and h.member = d.member group by h.gpu_id
         ), locked as (
             select g.id from gpus g where g.id in (select gpu_id from given) order by g.id for no key update
         )
         update gpus g set free_milli = g.free_milli + d.milli, free_memory_mib = g.free_memory_mib + d.memory
         from given d join locked l on l.id = d.gpu_id where g.id = d.gpu_id",
        &of_runs,
        &members
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "with given as (
             select m.node_id, sum(m.cpu_milli)::bigint as cpu, sum(m.memory_mib)::bigint as memory
             from unnest($1::uuid[], $2::integer[]) as d(run, member)
             join members m on m.run_id = d.run and m.member = d.member group by m.node_id
         ), locked as (
             select n.id from nodes n where n.id in (select node_id from given) order by n.id for no key update
         )
         update nodes n set free_cpu_milli = n.free_cpu_milli + d.cpu, free_memory_mib = n.free_memory_mib + d.memory
         from given d join locked l on l.id = d.node_id where n.id = d.node_id",
        &of_runs,
        &members
    )
    .execute(&mut *connection)
    .await?;
    ledger::settle(connection, &of_runs, now).await
}

/// Surplus members that have all left end their eviction; a reclaim without an asking job ends with its evictions.
pub(crate) async fn settle_evictions(
    connection: &mut PgConnection,
    jobs: &[Uuid],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "update evictions e set outcome = 'shrunk', vacated_at = $2
         where e.job_id = any($1) and e.outcome = 'leaving' and e.surplus_only
           and not exists (select from members m where m.job_id = e.job_id and m.run_number = e.run_number
                             and m.member = any(e.members) and m.state <> 'ended')",
        jobs,
        now
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "update reclaims c set state = 'done', ended_at = $2
         where c.state = 'waiting' and c.evictor_job_id is null
           and exists (select from evictions e where e.reclaim_id = c.id and e.job_id = any($1))
           and not exists (select from evictions e where e.reclaim_id = c.id and e.outcome = 'leaving')",
        jobs,
        now
    )
    .execute(&mut *connection)
    .await?;
    Ok(())
}
