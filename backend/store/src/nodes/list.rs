//! Nodes as people see them.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::WriteTx;
use chrono::{DateTime, Utc};
use reeve_core::id::{NodeId, PoolId};
use uuid::Uuid;

/// A node with its lease.
#[derive(Debug, Clone)]
pub struct NodeRow {
    pub id: Uuid,
    pub name: String,
    pub pool_id: Uuid,
    pub pool_slug: String,
    pub state: String,
    pub state_note: Option<String>,
    pub cpu_milli: i64,
    pub memory_mib: i64,
    pub free_cpu_milli: i64,
    pub free_memory_mib: i64,
    pub labels: serde_json::Value,
    pub topology: serde_json::Value,
    pub rdma: bool,
    pub agent_version: String,
    pub version: i64,
    pub last_seen_at: Option<DateTime<Utc>>,
    pub lease_until: Option<DateTime<Utc>>,
    pub clock_skew_ms: Option<i64>,
}

/// A GPU of a node.
#[derive(Debug, Clone)]
pub struct GpuRow {
    pub id: Uuid,
    pub node_id: Uuid,
    pub index: i32,
    pub uuid: String,
    pub model: String,
    pub memory_mib: i64,
    pub free_milli: i64,
    pub free_memory_mib: i64,
    pub health: String,
    pub health_detail: Option<String>,
}

/// A job that holds a part of a GPU.
#[derive(Debug, Clone)]
pub struct HolderRow {
    pub gpu_id: Uuid,
    pub job_id: Uuid,
    pub job_name: String,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
}

macro_rules! select_nodes {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            $crate::nodes::list::NodeRow,
            r#"select n.id, n.name, n.pool_id, p.slug as pool_slug, n.state, n.state_note, n.cpu_milli, n.memory_mib,
                      n.free_cpu_milli, n.free_memory_mib, n.labels, n.topology, n.rdma, n.agent_version, n.version,
                      l.last_seen_at as "last_seen_at?", l.lease_until as "lease_until?",
                      l.clock_skew_ms as "clock_skew_ms?"
               from nodes n join pools p on p.id = n.pool_id left join node_leases l on l.node_id = n.id "# + $rest
            $(, $argument)*
        )
    };
}

/// Nodes by name.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    pool: Option<PoolId>,
    state: Option<&str>,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<NodeRow>, StoreError> {
    Ok(select_nodes!(
        "where n.state <> 'removed' and ($1::uuid is null or n.pool_id = $1) and ($2::text is null or n.state = $2)
           and ($3::text is null or n.name > $3)
         order by n.name limit $4",
        pool.map(|id| id.0),
        state,
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// A node by its id or name; a removed one only by its id.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn find(store: &Store, name: &str) -> Result<NodeRow, StoreError> {
    let id: Option<Uuid> = name.parse().ok();
    Ok(select_nodes!("where n.id = $2 or (n.name = $1 and n.state <> 'removed')", name, id)
        .fetch_one(store.pool())
        .await?)
}

/// One node as this transaction has left it.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn get_in(tx: &mut WriteTx, id: NodeId) -> Result<NodeRow, StoreError> {
    Ok(select_nodes!("where n.id = $1", id.0).fetch_one(tx.connection()).await?)
}

/// The GPUs of these nodes.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn gpus(store: &Store, nodes: &[Uuid]) -> Result<Vec<GpuRow>, StoreError> {
    Ok(sqlx::query_as!(
        GpuRow,
        "select id, node_id, index, uuid, model, memory_mib, free_milli, free_memory_mib, health, health_detail
         from gpus where node_id = any($1) order by node_id, index",
        nodes
    )
    .fetch_all(store.pool())
    .await?)
}

/// Who holds parts of these nodes' GPUs.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn holders(store: &Store, nodes: &[Uuid]) -> Result<Vec<HolderRow>, StoreError> {
    Ok(sqlx::query_as!(
        HolderRow,
        "select distinct h.gpu_id, m.job_id, j.name as job_name, j.team_id, t.slug as team_slug, t.name as team_name
         from members m join member_gpus h on h.run_id = m.run_id and h.member = m.member
         join jobs j on j.id = m.job_id join teams t on t.id = j.team_id
         where m.node_id = any($1) and m.state <> 'ended' order by h.gpu_id, m.job_id",
        nodes
    )
    .fetch_all(store.pool())
    .await?)
}
