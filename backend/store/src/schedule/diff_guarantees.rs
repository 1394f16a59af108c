//! What each team is guaranteed itself, as intervals: idle capacity is on the bill of whoever was guaranteed it then.
//!
//! A guarantee covers the teams below: what is handed on to them is theirs. Like capacity, it is a record of what is, and leaves
//! no event of its own.

use super::apply::Applier;
use crate::error::StoreError;
use reeve_core::id::RowId;
use reeve_core::schedule::snapshot::Snapshot;
use std::collections::{BTreeMap, HashMap};
use uuid::Uuid;

/// Pool and team.
type Key = (Uuid, Uuid);

/// Makes the open intervals equal to what the snapshot has.
pub(super) async fn write(applier: &mut Applier<'_>) -> Result<(), StoreError> {
    let mut wanted = kept(applier.snapshot);
    let open = sqlx::query!(
        "select id, pool_id, team_id, gpu_milli from guarantee_intervals where ended_at is null"
    )
    .fetch_all(&mut *applier.connection)
    .await?;
    let mut closing = Vec::new();
    for row in open {
        let key = (row.pool_id, row.team_id);
        if wanted.get(&key) == Some(&row.gpu_milli) {
            wanted.remove(&key);
        } else {
            closing.push(row.id);
        }
    }
    if closing.is_empty() && wanted.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "update guarantee_intervals set ended_at = greatest($2, started_at) where id = any($1) and ended_at is null",
        &closing,
        applier.now
    )
    .execute(&mut *applier.connection)
    .await?;
    let ids: Vec<Uuid> = wanted.keys().map(|_| RowId::mint(applier.now).0).collect();
    let pools: Vec<Uuid> = wanted.keys().map(|key| key.0).collect();
    let teams: Vec<Uuid> = wanted.keys().map(|key| key.1).collect();
    let millis: Vec<i64> = wanted.values().copied().collect();
    sqlx::query!(
        "insert into guarantee_intervals (id, pool_id, team_id, gpu_milli, started_at)
         select n.id, n.pool, n.team, n.milli, $5
         from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[]) as n(id, pool, team, milli)",
        &ids,
        &pools,
        &teams,
        &millis,
        applier.now
    )
    .execute(&mut *applier.connection)
    .await?;
    Ok(())
}

fn kept(snapshot: &Snapshot) -> BTreeMap<Key, i64> {
    let parents: HashMap<Uuid, Uuid> =
        snapshot.teams.iter().filter_map(|team| Some((team.id.0, team.parent?.0))).collect();
    let mut kept: BTreeMap<Key, i64> = BTreeMap::new();
    for quota in &snapshot.quotas {
        *kept.entry((quota.pool.0, quota.team.0)).or_default() += quota.guaranteed.0;
        if let Some(parent) = parents.get(&quota.team.0) {
            *kept.entry((quota.pool.0, *parent)).or_default() -= quota.guaranteed.0;
        }
    }
    kept.retain(|_, milli| *milli > 0);
    kept
}
