//! What each pool could give, as intervals: a tick that finds it changed closes one and opens another.
//!
//! A GPU that is out of reach but still held counts as used until it is let go, so that own, borrowed, idle and down
//! add up to all. It is a record of what is, no change of it: it leaves no event of its own.

use super::apply::Applier;
use crate::error::StoreError;
use reeve_core::id::{GpuId, RowId};
use reeve_core::node::NodeState;
use reeve_core::schedule::snapshot::Snapshot;
use std::collections::{BTreeMap, HashMap};
use uuid::Uuid;

/// Milli-GPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Capacity {
    all: i64,
    down: i64,
}

/// Makes the open intervals equal to what the snapshot has.
pub(super) async fn write(applier: &mut Applier<'_>) -> Result<(), StoreError> {
    let mut wanted = capacity(applier.snapshot);
    let open = sqlx::query!(
        "select id, pool_id, gpu_milli, down_milli from capacity_intervals where ended_at is null"
    )
    .fetch_all(&mut *applier.connection)
    .await?;
    let mut closing = Vec::new();
    for row in open {
        let known = Capacity { all: row.gpu_milli, down: row.down_milli };
        if wanted.get(&row.pool_id) == Some(&known) {
            wanted.remove(&row.pool_id);
        } else {
            closing.push(row.id);
        }
    }
    if closing.is_empty() && wanted.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "update capacity_intervals set ended_at = greatest($2, started_at) where id = any($1) and ended_at is null",
        &closing,
        applier.now
    )
    .execute(&mut *applier.connection)
    .await?;
    open_new(applier, &wanted).await
}

async fn open_new(applier: &mut Applier<'_>, wanted: &BTreeMap<Uuid, Capacity>) -> Result<(), StoreError> {
    let ids: Vec<Uuid> = wanted.keys().map(|_| RowId::mint(applier.now).0).collect();
    let pools: Vec<Uuid> = wanted.keys().copied().collect();
    let all: Vec<i64> = wanted.values().map(|capacity| capacity.all).collect();
    let down: Vec<i64> = wanted.values().map(|capacity| capacity.down).collect();
    sqlx::query!(
        "insert into capacity_intervals (id, pool_id, gpu_milli, down_milli, started_at)
         select n.id, n.pool, n.gpus, n.down, $5
         from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[]) as n(id, pool, gpus, down)",
        &ids,
        &pools,
        &all,
        &down,
        applier.now
    )
    .execute(&mut *applier.connection)
    .await?;
    Ok(())
}

/// Of pools that have any.
fn capacity(snapshot: &Snapshot) -> BTreeMap<Uuid, Capacity> {
    let mut down: HashMap<GpuId, i64> = snapshot
        .nodes
        .iter()
        .flat_map(|node| {
            node.gpus.iter().map(move |gpu| (node.state == NodeState::Lost || !gpu.healthy, gpu.id))
        })
        .filter_map(|(out, gpu)| out.then_some((gpu, 1_000)))
        .collect();
    if !down.is_empty() {
        for slice in snapshot.jobs.iter().flat_map(|job| &job.members).flat_map(|member| &member.gpus) {
            if let Some(free) = down.get_mut(&slice.gpu) {
                *free = (*free - slice.milli.0).max(0);
            }
        }
    }
    let mut pools: BTreeMap<Uuid, Capacity> = BTreeMap::new();
    for node in &snapshot.nodes {
        for gpu in &node.gpus {
            let capacity = pools.entry(node.pool.0).or_default();
            capacity.all += 1_000;
            capacity.down += down.get(&gpu.id).copied().unwrap_or(0);
        }
    }
    pools
}
