//! How a machine becomes a node (join, once) and says that its agent has started (register).
//!
//! This module refuses a second agent under one identity: while an instance's lease runs, only who took over from
//! it may register.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::{GpuId, NodeId, PoolId};
use reeve_core::inventory::Inventory;
use serde_json::json;
use uuid::Uuid;

/// Why a join token does not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    #[error("no such join token")]
    Unknown,
    #[error("the join token has expired")]
    Expired,
    #[error("the join token has been revoked")]
    Revoked,
    #[error("the join token has been used as often as it may")]
    UsedUp,
}

/// The pool that a join token leads to.
#[derive(Debug, Clone)]
pub struct PoolOfToken {
    pub token_id: Uuid,
    pub pool_id: PoolId,
    pub slug: String,
}

/// Who a node credential belongs to.
#[derive(Debug, Clone)]
pub struct NodeIdentity {
    pub id: NodeId,
    pub name: String,
}

/// Spends one use of a join token.
///
/// # Errors
/// [`StoreError::Unavailable`]. A token that does not let in is the inner error.
pub async fn spend_token(
    tx: &mut WriteTx,
    hash: &[u8],
) -> Result<Result<PoolOfToken, TokenRefusal>, StoreError> {
    let now = tx.now();
    let row = sqlx::query!(
        r#"select t.id, t.pool_id, p.slug, t.revoked_at is not null as "revoked!", t.expires_at <= $2 as "expired!",
                  t.uses >= t.max_uses as "used_up!"
           from join_tokens t join pools p on p.id = t.pool_id and p.state = 'active'
           where t.token_hash = $1 for update of t"#,
        hash,
        now
    )
    .fetch_optional(tx.connection())
    .await?;
    let Some(row) = row else { return Ok(Err(TokenRefusal::Unknown)) };
    let refusal = [
        (row.revoked, TokenRefusal::Revoked),
        (row.expired, TokenRefusal::Expired),
        (row.used_up, TokenRefusal::UsedUp),
    ];
    if let Some((_, refusal)) = refusal.into_iter().find(|(applies, _)| *applies) {
        return Ok(Err(refusal));
    }
    sqlx::query!("update join_tokens set uses = uses + 1 where id = $1", row.id)
        .execute(tx.connection())
        .await?;
    Ok(Ok(PoolOfToken { token_id: row.id, pool_id: PoolId(row.pool_id), slug: row.slug }))
}

/// Makes a node with its GPUs and its credential. It takes work once its agent has registered.
///
/// # Errors
/// [`StoreError::Duplicate`] when a node has this name.
pub async fn join(
    tx: &mut WriteTx,
    pool: &PoolOfToken,
    inventory: &Inventory,
    credential_hash: &[u8],
    lease: TimeDelta,
) -> Result<NodeId, StoreError> {
    let (id, now) = (NodeId::mint(tx.now()), tx.now());
    sqlx::query!(
        "insert into nodes (id, pool_id, name, state, cpu_milli, memory_mib, free_cpu_milli, free_memory_mib, labels,
                            topology, nvlink, rdma, datasets, agent_version, created_at, updated_at)
         values ($1, $2, $3, 'ready', $4, $5, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)",
        id.0,
        pool.pool_id.0,
        inventory.node_name,
        inventory.cpu_milli,
        inventory.memory_mib,
        json!(inventory.labels),
        json!(inventory.topology),
        json!(inventory.nvlink),
        inventory.rdma,
        &inventory.datasets,
        inventory.agent_version,
        now
    )
    .execute(tx.connection())
    .await?;
    put_gpus(tx, id, inventory).await?;
    sqlx::query!(
        "with credential as (insert into node_credentials (credential_hash, node_id, created_at) values ($2, $1, $3)),
              generation as (insert into node_generations (node_id) values ($1))
         insert into node_leases (node_id, instance_id, last_seen_at, lease_until)
         values ($1, '00000000-0000-0000-0000-000000000000', $3, $4)",
        id.0,
        credential_hash,
        now,
        now + lease
    )
    .execute(tx.connection())
    .await?;
    tx.record(NewEvent::new("node.joined", "node", id.0).after(json!({
        "name": inventory.node_name, "pool": pool.slug, "gpus": inventory.gpus.len(), "join_token": pool.token_id,
    })));
    tx.wake_schedule();
    Ok(id)
}

/// The node of a credential; `None` when there is none, it is revoked, or the node is removed.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn by_credential(store: &Store, hash: &[u8]) -> Result<Option<NodeIdentity>, StoreError> {
    let row = sqlx::query!(
        "select n.id, n.name from node_credentials c join nodes n on n.id = c.node_id
         where c.credential_hash = $1 and c.revoked_at is null and n.state <> 'removed'",
        hash
    )
    .fetch_optional(store.pool())
    .await?;
    Ok(row.map(|row| NodeIdentity { id: NodeId(row.id), name: row.name }))
}

/// An agent's start.
#[derive(Debug, Clone)]
pub struct Registration<'a> {
    pub node: NodeId,
    pub instance: Uuid,
    pub previous_instance: Option<Uuid>,
    pub inventory: &'a Inventory,
    pub lease: TimeDelta,
    /// The agent's clock minus the server's.
    pub clock_skew_ms: i64,
}

/// Another instance's lease still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherInstance {
    pub lease_until: DateTime<Utc>,
}

/// Records an agent's start: its lease begins, its inventory is taken over. What a member holds stays counted even
/// if the machine now says that it has less.
///
/// # Errors
/// [`StoreError::Unavailable`]. A second agent under one identity is the inner error.
pub async fn register(
    tx: &mut WriteTx,
    registration: &Registration<'_>,
) -> Result<Result<(), OtherInstance>, StoreError> {
    let (now, node) = (tx.now(), registration.node);
    let held = sqlx::query!(
        "select instance_id, lease_until from node_leases where node_id = $1 for update",
        node.0
    )
    .fetch_one(tx.connection())
    .await?;
    let same = held.instance_id.is_nil()
        || held.instance_id == registration.instance
        || registration.previous_instance == Some(held.instance_id);
    if !same && held.lease_until > now {
        return Ok(Err(OtherInstance { lease_until: held.lease_until }));
    }
    sqlx::query!(
        "update node_leases set instance_id = $2, last_seen_at = $3, lease_until = $4, report_sequence = 0,
                                clock_skew_ms = $5
         where node_id = $1",
        node.0,
        registration.instance,
        now,
        now + registration.lease,
        registration.clock_skew_ms
    )
    .execute(tx.connection())
    .await?;
    take_inventory(tx, node, registration.inventory).await?;
    tx.record(NewEvent::new("node.registered", "node", node.0).after(json!({
        "agent_version": registration.inventory.agent_version,
        "gpus": registration.inventory.gpus.len(),
        "instance_id": registration.instance,
    })));
    tx.wake_schedule();
    Ok(Ok(()))
}

async fn take_inventory(tx: &mut WriteTx, node: NodeId, inventory: &Inventory) -> Result<(), StoreError> {
    let now = tx.now();
    sqlx::query!(
        "update nodes set
           cpu_milli = greatest($2, cpu_milli - free_cpu_milli),
           free_cpu_milli = greatest($2 - (cpu_milli - free_cpu_milli), 0),
           memory_mib = greatest($3, memory_mib - free_memory_mib),
           free_memory_mib = greatest($3 - (memory_mib - free_memory_mib), 0),
           topology = $4, nvlink = $5, rdma = $6, datasets = $7, agent_version = $8, updated_at = $9
         where id = $1",
        node.0,
        inventory.cpu_milli,
        inventory.memory_mib,
        json!(inventory.topology),
        json!(inventory.nvlink),
        inventory.rdma,
        &inventory.datasets,
        inventory.agent_version,
        now
    )
    .execute(tx.connection())
    .await?;
    put_gpus(tx, node, inventory).await?;
    let present: Vec<i32> =
        inventory.gpus.iter().map(|gpu| i32::try_from(gpu.index).unwrap_or(i32::MAX)).collect();
    sqlx::query!(
        "update gpus set health = 'missing', health_detail = 'not in the agent''s inventory'
         where node_id = $1 and not (index = any($2))",
        node.0,
        &present
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

async fn put_gpus(tx: &mut WriteTx, node: NodeId, inventory: &Inventory) -> Result<(), StoreError> {
    let now = tx.now();
    let rows: Vec<serde_json::Value> = inventory
        .gpus
        .iter()
        .map(|gpu| {
            json!({
                "id": GpuId::mint(now), "index": gpu.index, "uuid": gpu.uuid, "model": gpu.model,
                "memory_mib": gpu.memory_mib, "health": if gpu.healthy { "healthy" } else { "sick" },
                "health_detail": gpu.health_detail,
            })
        })
        .collect();
    sqlx::query!(
        "insert into gpus as old (id, node_id, index, uuid, model, memory_mib, free_milli, free_memory_mib, health,
                                  health_detail)
         select g.id, $1, g.index, g.uuid, g.model, g.memory_mib, 1000, g.memory_mib, g.health, g.health_detail
         from jsonb_to_recordset($2::jsonb) as g(id uuid, index integer, uuid text, model text, memory_mib bigint,
                                                 health text, health_detail text)
         on conflict (node_id, index) do update set
           uuid = excluded.uuid, model = excluded.model, health = excluded.health,
           health_detail = excluded.health_detail,
           memory_mib = greatest(excluded.memory_mib, old.memory_mib - old.free_memory_mib),
           free_memory_mib = greatest(excluded.memory_mib - (old.memory_mib - old.free_memory_mib), 0)",
        node.0,
        serde_json::Value::Array(rows)
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
