//! The sealer: gives committed events their gap-free positions and chains their hashes.
//!
//! One at a time by advisory lock, over all servers. It reads only below the horizon of transactions still running,
//! so nobody can commit an event into the past. It never changes an event: seals are rows of their own.

use crate::connect::Store;
use crate::error::StoreError;
use crate::event::{EventBody, GENESIS};
use chrono::{DateTime, Utc};
use reeve_core::id::TeamId;
use sqlx::PgConnection;
use uuid::Uuid;

/// The advisory lock of the sealer.
const LOCK: i64 = 0x7265_6576_6500_0001;
/// Most events a step seals.
pub const BATCH: i64 = 2_000;

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sealed {
    pub events: usize,
    /// There is more, or another sealer is at work, or a running transaction holds the horizon back.
    pub again: bool,
}

/// Seals up to [`BATCH`] events.
///
/// # Errors
/// [`StoreError::Unavailable`]; nothing is half sealed.
pub async fn step(store: &Store, now: DateTime<Utc>) -> Result<Sealed, StoreError> {
    let mut tx = store.pool().begin().await?;
    // READ COMMITTED: the statements after the lock see what the sealer before us sealed. Nobody waits for the disk: seals
    // that a crash takes away are made anew, at the same positions with the same hashes, since the events are there.
    let locked = sqlx::query_scalar!(
        r#"select pg_try_advisory_xact_lock($1) and set_config('synchronous_commit', 'off', true) = 'off' as "locked!""#,
        LOCK
    )
    .fetch_one(&mut *tx)
    .await?;
    if !locked {
        return Ok(Sealed { events: 0, again: true });
    }
    let last = sqlx::query!("select position, hash from event_seals order by position desc limit 1")
        .fetch_optional(&mut *tx)
        .await?;
    let (mut position, mut hash) = last.map_or((0, GENESIS.to_vec()), |row| (row.position, row.hash));
    let events = unsealed(&mut tx).await?;
    let (mut positions, mut ids, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
    for event in &events {
        position += 1;
        hash = event.hash_after(&hash)?.to_vec();
        positions.push(position);
        ids.push(event.id.0);
        hashes.push(hash.clone());
    }
    if !events.is_empty() {
        sqlx::query!(
            "insert into event_seals (position, event_id, hash, sealed_at)
             select position, event_id, hash, $4 from unnest($1::bigint[], $2::uuid[], $3::bytea[])
               as s(position, event_id, hash)",
            &positions,
            &ids,
            &hashes,
            now
        )
        .execute(&mut *tx)
        .await?;
    }
    let again = behind(&mut tx).await?;
    tx.commit().await?;
    if !events.is_empty() {
        store.signals().events_sealed();
    }
    Ok(Sealed { events: events.len(), again })
}

/// Events below the horizon without a seal, in the order of their transactions. Each is asked for its own seal: joined as a
/// whole, all seals there ever were would be read at each step. A transaction id that lies in the
/// future of this cluster comes from a restored dump: such an event was committed there, long ago.
async fn unsealed(connection: &mut PgConnection) -> Result<Vec<EventBody>, StoreError> {
    let rows = sqlx::query!(
        "with last as (
             select e.xid from event_seals s join events e on e.id = s.event_id
             where e.xid < pg_snapshot_xmax(pg_current_snapshot())
               and s.position = (select max(position) from event_seals)
         )
         select e.id, e.occurred_at, e.actor_type, e.actor_id, e.actor_name, e.action, e.subject_type, e.subject_id,
                e.team_id, e.request_id, e.rule, e.allowed, e.before, e.after, e.detail
         from events e
         where e.xid >= coalesce((select xid from last), '0'::xid8)
           and (e.xid < pg_snapshot_xmin(pg_current_snapshot()) or e.xid >= pg_snapshot_xmax(pg_current_snapshot()))
           and (select s.position from event_seals s where s.event_id = e.id) is null
         order by e.xid, e.ordinal, e.id
         limit $1",
        BATCH
    )
    .fetch_all(&mut *connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| EventBody {
            id: row.id.into(),
            occurred_at: row.occurred_at,
            actor_type: row.actor_type,
            actor_id: row.actor_id,
            actor_name: row.actor_name,
            action: row.action,
            subject_type: row.subject_type,
            subject_id: row.subject_id,
            team_id: row.team_id.map(TeamId),
            request_id: row.request_id,
            rule: row.rule,
            allowed: row.allowed,
            before: row.before,
            after: row.after,
            detail: row.detail,
        })
        .collect())
}

/// Whether committed events still have no seal.
async fn behind(connection: &mut PgConnection) -> Result<bool, StoreError> {
    let behind = sqlx::query_scalar!(
        r#"select exists (
               select from events e
               where e.xid >= coalesce((select l.xid from event_seals s join events l on l.id = s.event_id
                                        where s.position = (select max(position) from event_seals)), '0'::xid8)
                 and (select s.position from event_seals s where s.event_id = e.id) is null
           ) as "behind!""#
    )
    .fetch_one(&mut *connection)
    .await?;
    Ok(behind)
}

/// How far the chain verifies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    /// All of it.
    Whole { events: i64 },
    /// The first position whose number or hash is wrong.
    BrokenAt { position: i64, expected: String, found: String },
}

/// Walks the chain from its start, `chunk` events at a time.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn verify(store: &Store, chunk: i64) -> Result<Verified, StoreError> {
    let filter = crate::event::EventFilter::default();
    let (mut position, mut hash): (i64, Vec<u8>) = (0, GENESIS.to_vec());
    loop {
        let events = crate::event::after(store, position, &filter, chunk).await?;
        if events.is_empty() {
            return Ok(Verified::Whole { events: position });
        }
        for sealed in events {
            hash = sealed.event.hash_after(&hash)?.to_vec();
            let expected = hex::encode(&hash);
            if sealed.position != position + 1 || sealed.hash != expected {
                return Ok(Verified::BrokenAt { position: position + 1, expected, found: sealed.hash });
            }
            position = sealed.position;
        }
    }
}

/// The id of the event at a position, for a checkpoint.
///
/// # Errors
/// [`StoreError::NotFound`] beyond the end; [`StoreError::Unavailable`].
pub async fn event_at(store: &Store, position: i64) -> Result<Uuid, StoreError> {
    Ok(sqlx::query_scalar!("select event_id from event_seals where position = $1", position)
        .fetch_one(store.pool())
        .await?)
}
