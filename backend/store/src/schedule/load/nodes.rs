//! Loads nodes with their GPUs: all, or those that are named.
//!
//! A node with stray processes is shown as cordoned, because nothing may be placed there.

use crate::error::StoreError;
use crate::row::{count, text_map, word};
use reeve_core::node::NodeState;
use reeve_core::schedule::snapshot::{Gpu, Node};
use reeve_core::units::{Mib, MilliCpu};
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

struct GpuRow {
    id: Uuid,
    node_id: Uuid,
    index: i32,
    model: String,
    memory_mib: i64,
    health: String,
}

macro_rules! select_gpus {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            GpuRow,
            "select g.id, g.node_id, g.index, g.model, g.memory_mib, g.health from gpus g
             join nodes n on n.id = g.node_id where n.state <> 'removed' " + $rest
            $(, $argument)*
        )
    };
}

struct NodeRow {
    id: Uuid,
    name: String,
    pool_id: Uuid,
    state: String,
    cpu_milli: i64,
    memory_mib: i64,
    labels: serde_json::Value,
    topology: serde_json::Value,
    nvlink: serde_json::Value,
    rdma: bool,
    datasets: Vec<String>,
    strays: bool,
}

macro_rules! select_nodes {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            NodeRow,
            r#"select n.id, n.name, n.pool_id, n.state, n.cpu_milli, n.memory_mib, n.labels, n.topology, n.nvlink,
                      n.rdma, n.datasets, coalesce(l.stray_members, 0) > 0 as "strays!"
               from nodes n left join node_leases l on l.node_id = n.id where n.state <> 'removed' "# + $rest
            $(, $argument)*
        )
    };
}

/// In the order of their ids; of `only` those that still exist.
pub(crate) async fn load_nodes(
    connection: &mut PgConnection,
    only: Option<&[Uuid]>,
) -> Result<Vec<Node>, StoreError> {
    let (gpus, nodes) = match only {
        None => (
            select_gpus!("order by g.node_id, g.index").fetch_all(&mut *connection).await?,
            select_nodes!("order by n.id").fetch_all(connection).await?,
        ),
        Some(only) => (
            select_gpus!("and n.id = any($1) order by g.node_id, g.index", only)
                .fetch_all(&mut *connection)
                .await?,
            select_nodes!("and n.id = any($1) order by n.id", only).fetch_all(connection).await?,
        ),
    };
    let mut of_node: HashMap<Uuid, Vec<Gpu>> = HashMap::new();
    for row in gpus {
        of_node.entry(row.node_id).or_default().push(Gpu {
            id: row.id.into(),
            index: count(row.index)?,
            model: row.model,
            memory: Mib(row.memory_mib),
            healthy: row.health == "healthy",
        });
    }
    nodes.into_iter().map(|row| node(of_node.remove(&row.id).unwrap_or_default(), row)).collect()
}

fn node(gpus: Vec<Gpu>, row: NodeRow) -> Result<Node, StoreError> {
    let state: NodeState = word(&row.state)?;
    let unswept = row.strays && state == NodeState::Ready;
    Ok(Node {
        id: row.id.into(),
        name: row.name,
        pool: row.pool_id.into(),
        state: if unswept { NodeState::Cordoned } else { state },
        cpu: MilliCpu(row.cpu_milli),
        memory: Mib(row.memory_mib),
        gpus,
        labels: text_map(row.labels)?,
        topology: text_map(row.topology)?,
        nvlink: serde_json::from_value(row.nvlink)?,
        rdma: row.rdma,
        datasets: row.datasets,
    })
}
