//! Looks over the whole database for what must never be: the judge's rules over a snapshot, and sums that must agree.
//!
//! It repairs nothing.

use crate::connect::Store;
use crate::error::StoreError;
use crate::schedule::snapshot;
use crate::seal::{Verified, verify};
use chrono::{DateTime, Utc};
use reeve_core::schedule::check::state_violations;

/// Everything that is wrong, in sentences; empty = nothing.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn check_database(store: &Store, now: DateTime<Utc>) -> Result<Vec<String>, StoreError> {
    let mut tx = store.pool().begin_with("begin isolation level repeatable read read only").await?;
    let loaded = snapshot::load(&mut tx, now).await?;
    let mut found: Vec<String> = state_violations(&loaded.snapshot).iter().map(ToString::to_string).collect();
    let sums = sqlx::query_scalar!(
        r#"
        select 'gpu ' || g.id || ': free ' || g.free_milli || ' milli, members hold ' || coalesce(h.milli, 0) as "found!"
        from gpus g left join (
            select s.gpu_id, sum(s.milli) as milli, sum(s.memory_mib) as memory from member_gpus s
            join members m on m.run_id = s.run_id and m.member = s.member where m.released_at is null group by s.gpu_id
        ) h on h.gpu_id = g.id
        where g.free_milli <> 1000 - coalesce(h.milli, 0)
           or g.free_memory_mib <> g.memory_mib - coalesce(h.memory, 0)
        union all
        select 'node ' || n.name || ': free cpu or memory is not what members leave'
        from nodes n left join (
            select node_id, sum(cpu_milli) as cpu, sum(memory_mib) as memory from members
            where released_at is null group by node_id
        ) h on h.node_id = n.id
        where n.free_cpu_milli <> n.cpu_milli - coalesce(h.cpu, 0)
           or n.free_memory_mib <> n.memory_mib - coalesce(h.memory, 0)
        union all
        select 'job ' || job_id || ': ' || count(*) || ' live runs' from runs where ended_at is null
        group by job_id having count(*) > 1
        union all
        select 'job ' || j.id || ': state ' || j.state || ' with ' || count(r.id) || ' live runs'
        from jobs j left join runs r on r.job_id = j.id and r.ended_at is null
        group by j.id having (j.state in ('starting', 'running', 'leaving')) <> (count(r.id) > 0)
        union all
        select 'run ' || r.id || ': ended, but members hold GPUs or an interval is open' from runs r
        where r.ended_at is not null
          and (exists (select from members m where m.run_id = r.id and m.released_at is null)
               or exists (select from usage_intervals u where u.run_id = r.id and u.ended_at is null))
        union all
        select 'run ' || r.id || ': open interval of ' || coalesce(u.gpu_milli, 0) || ' milli, members hold '
               || coalesce(h.milli, 0)
        from runs r left join usage_intervals u on u.run_id = r.id and u.ended_at is null
        left join (
            select s.run_id, sum(s.milli) as milli from member_gpus s
            join members m on m.run_id = s.run_id and m.member = s.member where m.released_at is null group by s.run_id
        ) h on h.run_id = r.id
        where r.ended_at is null and coalesce(u.gpu_milli, 0) <> coalesce(h.milli, 0)
        union all
        select 'run ' || t.run_id || ': ledger has ' || coalesce(l.amount, 0) || ' milli-GPU seconds, members held '
               || t.amount
        from (
            select m.run_id, sum(s.milli * extract(epoch from greatest(m.released_at, m.placed_at) - m.placed_at)) as amount
            from members m join member_gpus s on s.run_id = m.run_id and s.member = m.member
            join runs r on r.id = m.run_id where r.ended_at is not null group by m.run_id
        ) t left join (
            select run_id, sum(gpu_milli * extract(epoch from ended_at - started_at)) as amount from usage_intervals
            group by run_id
        ) l on l.run_id = t.run_id
        where coalesce(l.amount, 0) <> t.amount
        union all
        select 'events: ' || count(*) || ' seals, the last has position ' || max(position) from event_seals
        having count(*) <> max(position)
        "#
    )
    .fetch_all(&mut *tx)
    .await?;
    found.extend(sums);
    found.extend(crate::money::check::faults(&mut tx).await?);
    tx.rollback().await?;
    found.extend(broken_chain(store).await?);
    Ok(found)
}

async fn broken_chain(store: &Store) -> Result<Option<String>, StoreError> {
    let Verified::BrokenAt { position, expected, found } = verify(store, 5_000).await? else {
        return Ok(None);
    };
    Ok(Some(format!("events: the chain breaks at position {position}: expected {expected}, found {found}")))
}
