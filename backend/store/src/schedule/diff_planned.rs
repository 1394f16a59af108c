//! Planned starts: the space that the plan keeps for the first jobs that wait. Only what has changed is written.
//!
//! Nothing here is an event: a planned start is an expectation, found anew by every plan.

use super::apply::Applier;
use crate::error::StoreError;
use reeve_core::schedule::plan::PlannedStart;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Makes the table say what the plan says.
pub(super) async fn write(applier: &mut Applier<'_>, planned: &[PlannedStart]) -> Result<(), StoreError> {
    let mut wanted = BTreeMap::new();
    for start in planned {
        let placement = serde_json::to_value(&start.members)?;
        wanted.insert(start.job.0, (start.pool.0, start.at, placement));
    }
    let stored = sqlx::query!("select job_id, pool_id, starts_at, placement from planned_starts")
        .fetch_all(&mut *applier.connection)
        .await?;
    let mut gone: Vec<Uuid> = Vec::new();
    for row in stored {
        match wanted.get(&row.job_id) {
            None => gone.push(row.job_id),
            Some(now) if *now == (row.pool_id, row.starts_at, row.placement) => {
                wanted.remove(&row.job_id);
            }
            Some(_) => {}
        }
    }
    if !gone.is_empty() {
        sqlx::query!("delete from planned_starts where job_id = any($1)", &gone)
            .execute(&mut *applier.connection)
            .await?;
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let (mut jobs, mut pools, mut moments, mut places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (job, (pool, at, placement)) in wanted {
        jobs.push(job);
        pools.push(pool);
        moments.push(at);
        places.push(placement);
    }
    sqlx::query!(
        "insert into planned_starts (job_id, pool_id, starts_at, placement, planned_at)
         select n.job, n.pool, n.at, n.placement, $5
         from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::jsonb[]) as n(job, pool, at, placement)
         on conflict (job_id) do update
         set pool_id = excluded.pool_id, starts_at = excluded.starts_at, placement = excluded.placement,
             planned_at = excluded.planned_at",
        &jobs,
        &pools,
        &moments as &[Option<chrono::DateTime<chrono::Utc>>],
        &places,
        applier.now
    )
    .execute(&mut *applier.connection)
    .await?;
    Ok(())
}
