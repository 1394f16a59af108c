//! A node as JSON.

use crate::refs::{JobRef, PoolRef, TeamRef};
use chrono::{DateTime, Utc};
use reeve_store::nodes::list::{GpuRow, HolderRow, NodeRow};
use reeve_store::{Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct NodeView {
    pub id: Uuid,
    pub name: String,
    pub pool: PoolRef,
    /// `ready`, `cordoned`, `draining`, `lost` or `removed`.
    pub state: String,
    pub state_note: Option<String>,
    pub cpu_milli: i64,
    pub memory_mib: i64,
    pub free_cpu_milli: i64,
    pub free_memory_mib: i64,
    #[schema(value_type = BTreeMap<String, String>)]
    pub labels: serde_json::Value,
    #[schema(value_type = BTreeMap<String, String>)]
    pub topology: serde_json::Value,
    pub rdma: bool,
    pub agent_version: String,
    pub last_seen_at: Option<DateTime<Utc>>,
    pub lease_until: Option<DateTime<Utc>>,
    /// The agent's clock minus the server's.
    pub clock_skew_ms: Option<i64>,
    pub version: i64,
    pub gpus: Vec<GpuView>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct GpuView {
    pub id: Uuid,
    pub index: i32,
    pub uuid: String,
    pub model: String,
    pub memory_mib: i64,
    /// Thousandths of the GPU that nobody holds.
    pub free_milli: i64,
    pub free_memory_mib: i64,
    pub health: String,
    pub health_detail: Option<String>,
    pub jobs: Vec<JobRef>,
}

/// Nodes with their GPUs and who holds them: two set look-ups, however many nodes.
pub(crate) async fn views(store: &Store, nodes: Vec<NodeRow>) -> Result<Vec<NodeView>, StoreError> {
    let ids: Vec<Uuid> = nodes.iter().map(|node| node.id).collect();
    let mut holders: BTreeMap<Uuid, Vec<JobRef>> = BTreeMap::new();
    for holder in reeve_store::nodes::list::holders(store, &ids).await? {
        holders.entry(holder.gpu_id).or_default().push(job_ref(holder));
    }
    let mut gpus: BTreeMap<Uuid, Vec<GpuView>> = BTreeMap::new();
    for gpu in reeve_store::nodes::list::gpus(store, &ids).await? {
        let jobs = holders.remove(&gpu.id).unwrap_or_default();
        gpus.entry(gpu.node_id).or_default().push(gpu_view(gpu, jobs));
    }
    Ok(nodes
        .into_iter()
        .map(|node| {
            let gpus = gpus.remove(&node.id).unwrap_or_default();
            view(node, gpus)
        })
        .collect())
}

fn job_ref(holder: HolderRow) -> JobRef {
    JobRef {
        id: holder.job_id,
        name: holder.job_name,
        team: TeamRef { id: holder.team_id, slug: holder.team_slug, name: holder.team_name },
    }
}

fn gpu_view(gpu: GpuRow, jobs: Vec<JobRef>) -> GpuView {
    GpuView {
        id: gpu.id,
        index: gpu.index,
        uuid: gpu.uuid,
        model: gpu.model,
        memory_mib: gpu.memory_mib,
        free_milli: gpu.free_milli,
        free_memory_mib: gpu.free_memory_mib,
        health: gpu.health,
        health_detail: gpu.health_detail,
        jobs,
    }
}

fn view(node: NodeRow, gpus: Vec<GpuView>) -> NodeView {
    NodeView {
        id: node.id,
        name: node.name,
        pool: PoolRef { id: node.pool_id, slug: node.pool_slug },
        state: node.state,
        state_note: node.state_note,
        cpu_milli: node.cpu_milli,
        memory_mib: node.memory_mib,
        free_cpu_milli: node.free_cpu_milli,
        free_memory_mib: node.free_memory_mib,
        labels: node.labels,
        topology: node.topology,
        rdma: node.rdma,
        agent_version: node.agent_version,
        last_seen_at: node.last_seen_at,
        lease_until: node.lease_until,
        clock_skew_ms: node.clock_skew_ms,
        version: node.version,
        gpus,
    }
}
