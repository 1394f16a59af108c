//! Evictions and nominations: victims are told, and the space is promised, together.
//!
//! Being told frees nothing: GPUs come back when the agents confirm. A promise is never extended or patched here.

use super::apply::{Applier, expect};
use crate::error::StoreError;
use crate::release;
use crate::write_tx::NewEvent;
use reeve_core::eviction::EvictionCause;
use reeve_core::id::{EvictionId, NodeId, ReclaimId};
use reeve_core::schedule::plan::{DropReason, DroppedNomination, Eviction, Reclaim};
use reeve_core::units::MilliGpu;
use serde_json::json;
use std::collections::HashMap;
use uuid::Uuid;

/// Ends nominations without a start.
pub(super) async fn drop_nominations(
    applier: &mut Applier<'_>,
    dropped: &[DroppedNomination],
) -> Result<usize, StoreError> {
    if dropped.is_empty() {
        return Ok(0);
    }
    let jobs: Vec<Uuid> = dropped.iter().map(|dropped| dropped.job.0).collect();
    let reasons: Vec<String> = dropped.iter().map(|dropped| dropped.why.to_string()).collect();
    let rows = sqlx::query!(
        r#"update reclaims r set state = case d.why when $4 then 'timed_out' else 'dropped' end, end_reason = d.why,
                  ended_at = $3
           from unnest($1::uuid[], $2::text[]) as d(job, why)
           where r.evictor_job_id = d.job and r.state = 'waiting'
           returning r.id, r.state, r.evictor_team_id, d.why as "why!""#,
        &jobs,
        &reasons,
        applier.now,
        DropReason::TimedOut.as_str()
    )
    .fetch_all(&mut *applier.connection)
    .await?;
    expect(rows.len() as u64, dropped.len())?;
    for row in rows {
        let event = NewEvent::new("reclaim.dropped", "reclaim", row.id)
            .team(row.evictor_team_id.map(Into::into))
            .after(json!({"state": row.state, "end_reason": row.why}));
        applier.events.push(event);
    }
    Ok(dropped.len())
}

/// Tells victims and stores nominations; answers how many evictions there are.
pub(super) async fn reclaim(applier: &mut Applier<'_>, reclaims: &[Reclaim]) -> Result<usize, StoreError> {
    let mut evictions = 0;
    for reclaim in reclaims {
        let id = insert_reclaim(applier, reclaim).await?;
        for eviction in &reclaim.evictions {
            evict(applier, id, eviction).await?;
        }
        evictions += reclaim.evictions.len();
    }
    Ok(evictions)
}

async fn insert_reclaim(applier: &mut Applier<'_>, reclaim: &Reclaim) -> Result<Uuid, StoreError> {
    let id = ReclaimId::mint(applier.now).0;
    let team = reclaim
        .evictor
        .and_then(|evictor| applier.snapshot.jobs.iter().find(|job| job.id == evictor))
        .map(|job| job.team);
    if let Some(evictor) = reclaim.evictor {
        // The promise is to a job that still waits, or that this plan has told to move.
        let moves = applier.moving.contains(&evictor);
        let waiting = sqlx::query!(
            "select id from jobs where id = $1 and not held and state = case when $2 then 'leaving' else 'queued' end
             for share",
            evictor.0,
            moves
        )
        .fetch_all(&mut *applier.connection)
        .await?;
        expect(waiting.len() as u64, 1)?;
    }
    sqlx::query!(
        "insert into reclaims (id, pool_id, evictor_job_id, evictor_team_id, state, nomination, created_at, expires_at)
         values ($1, $2, $3, $4, 'waiting', $5, $6, $7)",
        id,
        reclaim.pool.0,
        reclaim.evictor.map(|job| job.0),
        team.map(|team| team.0),
        serde_json::to_value(&reclaim.nomination)?,
        applier.now,
        reclaim.expires_at
    )
    .execute(&mut *applier.connection)
    .await?;
    let event = NewEvent::new("reclaim.made", "reclaim", id).team(team).after(json!({
        "pool_id": reclaim.pool, "evictor_job_id": reclaim.evictor, "evictions": reclaim.evictions.len(),
        "expires_at": reclaim.expires_at,
    }));
    applier.events.push(event);
    Ok(id)
}

async fn evict(applier: &mut Applier<'_>, reclaim: Uuid, eviction: &Eviction) -> Result<(), StoreError> {
    let id = EvictionId::mint(applier.now).0;
    let victim =
        applier.snapshot.jobs.iter().find(|job| job.id == eviction.job).ok_or(StoreError::Conflict)?;
    let held: HashMap<u32, MilliGpu> = victim
        .members
        .iter()
        .map(|member| (member.index, member.gpus.iter().map(|slice| slice.milli).sum()))
        .collect();
    let milli: MilliGpu = eviction.members.iter().filter_map(|member| held.get(member)).copied().sum();
    let members: Vec<i32> =
        eviction.members.iter().map(|&member| i32::try_from(member).unwrap_or(i32::MAX)).collect();
    sqlx::query!(
        "insert into evictions (id, reclaim_id, job_id, run_number, team_id, members, surplus_only, gpu_milli, cause,
                                record, notified_at, leave_by)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        id,
        reclaim,
        eviction.job.0,
        i32::try_from(victim.run_number).unwrap_or(i32::MAX),
        victim.team.0,
        &members,
        eviction.surplus_only,
        milli.0,
        eviction.cause.as_str(),
        serde_json::to_value(&eviction.record)?,
        applier.now,
        eviction.leave_by
    )
    .execute(&mut *applier.connection)
    .await?;
    tell_members(applier, eviction, &members).await?;
    if !eviction.surplus_only {
        tell_run(applier, eviction).await?;
    }
    let_go(applier, eviction).await?;
    if eviction.cause == EvictionCause::Consolidation {
        applier.moving.insert(eviction.job);
    }
    let event = NewEvent::new("job.evicted", "job", eviction.job)
        .team(victim.team)
        .rule(&eviction.record.rule)
        .after(json!({
            "state": if eviction.surplus_only { "running" } else { "leaving" }, "eviction_id": id,
            "reclaim_id": reclaim, "cause": eviction.cause, "leave_by": eviction.leave_by, "members": eviction.members,
        }))
        .detail(serde_json::to_value(&eviction.record)?);
    applier.events.push(event);
    Ok(())
}

async fn tell_members(
    applier: &mut Applier<'_>,
    eviction: &Eviction,
    members: &[i32],
) -> Result<(), StoreError> {
    // A member that finished before the rest of its gang still holds its GPUs: the order lets go of them.
    let told = sqlx::query!(
        r#"update members m
           set stop_order = 'leave', stop_cause = $3, leave_by = $4,
               state = case m.state when 'running' then 'leaving' else m.state end
           from runs r where r.id = m.run_id and r.job_id = $1 and r.ended_at is null and m.member = any($2)
             and m.released_at is null and m.stop_order is null
           returning m.node_id"#,
        eviction.job.0,
        members,
        eviction.cause.as_str(),
        eviction.leave_by
    )
    .fetch_all(&mut *applier.connection)
    .await?;
    expect(told.len() as u64, members.len())?;
    applier.nodes.extend(told.into_iter().map(|row| NodeId(row.node_id)));
    Ok(())
}

async fn tell_run(applier: &mut Applier<'_>, eviction: &Eviction) -> Result<(), StoreError> {
    let touched = sqlx::query!(
        "with job as (
             update jobs set state = 'leaving', version = version + 1, updated_at = $4
             where id = $1 and state in ('starting', 'running') returning id
         )
         update runs r set state = 'leaving', leave_cause = $2, leave_by = $3 from job
         where r.job_id = job.id and r.ended_at is null",
        eviction.job.0,
        eviction.cause.as_str(),
        eviction.leave_by,
        applier.now
    )
    .execute(&mut *applier.connection)
    .await?;
    expect(touched.rows_affected(), 1)?;
    Ok(())
}

/// Finished members held their GPUs for the gang's sake; whoever is told to go needs them no more.
async fn let_go(applier: &mut Applier<'_>, eviction: &Eviction) -> Result<(), StoreError> {
    let job = eviction.job.0;
    let runs = sqlx::query_scalar!("select id from runs where job_id = $1 and ended_at is null", job)
        .fetch_all(&mut *applier.connection)
        .await?;
    release::release_ended(applier.connection, &runs, applier.now).await?;
    release::settle_evictions(applier.connection, &[job], applier.now).await
}
