//! The usage ledger: one open interval for each run that holds GPUs, always as large as what its members hold.
//!
//! An interval is never changed but closed once; a run that grows or shrinks gets a new one. This module refuses to
//! price anything.

use crate::error::StoreError;
use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

/// Makes the open intervals of these runs equal to what their members hold now, under the class that counts now: closes
/// what differs, opens what is missing. A clock behind the interval's start closes it at its start.
pub(crate) async fn settle(
    connection: &mut PgConnection,
    runs: &[Uuid],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "update usage_intervals u set ended_at = greatest($2, u.started_at)
         where u.run_id = any($1) and u.ended_at is null
           and (u.gpu_milli <> coalesce((select sum(h.milli) from members m
                  join member_gpus h on h.run_id = m.run_id and h.member = m.member
                  where m.run_id = u.run_id and m.released_at is null), 0)
                or u.priority_class <> (select effective_class(j.id, j.priority_class, j.team_id, j.queue_id, j.kind, $2)
                                        from jobs j where j.id = u.job_id))",
        runs,
        now
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "insert into usage_intervals (id, run_id, job_id, team_id, pool_id, kind, priority_class, gpu_milli, started_at)
         select gen_random_uuid(), r.id, j.id, j.team_id, r.pool_id, j.kind,
                effective_class(j.id, j.priority_class, j.team_id, j.queue_id, j.kind, $2), held.milli, $2
         from runs r join jobs j on j.id = r.job_id
         join lateral (select sum(h.milli)::bigint as milli from members m
                       join member_gpus h on h.run_id = m.run_id and h.member = m.member
                       where m.run_id = r.id and m.released_at is null) held on held.milli > 0
         where r.id = any($1) and r.pool_id is not null
           and not exists (select from usage_intervals u where u.run_id = r.id and u.ended_at is null)",
        runs,
        now
    )
    .execute(&mut *connection)
    .await?;
    Ok(())
}
