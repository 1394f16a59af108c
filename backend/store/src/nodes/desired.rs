//! What a node should run now.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::id::NodeId;
use uuid::Uuid;

/// One member that the node should run, or see off.
#[derive(Debug, Clone)]
pub struct DesiredRow {
    pub job_id: Uuid,
    pub run_number: i32,
    pub member: i32,
    pub stop_order: Option<String>,
    pub stop_cause: Option<String>,
    pub leave_by: Option<DateTime<Utc>>,
    pub job_name: String,
    pub team: String,
    pub queue: String,
    pub kind: String,
    pub command: Vec<String>,
    pub env: serde_json::Value,
    pub working_dir: Option<String>,
    pub gpu_indices: Vec<i32>,
    pub gpu_milli: Option<i64>,
    pub gpu_memory_mib: Option<i64>,
    pub cpu_milli: i64,
    pub memory_mib: i64,
    pub replicas: i64,
    pub resume: bool,
    pub checkpoint: String,
    pub checkpoint_signal: String,
    pub time_limit_secs: Option<i64>,
}

/// The node's generation.
///
/// # Errors
/// [`StoreError::NotFound`] for no node.
pub async fn generation(store: &Store, node: NodeId) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar!("select generation from node_generations where node_id = $1", node.0)
        .fetch_one(store.pool())
        .await?)
}

/// Every member that has not ended on the node. Read after the generation: it is at least as new.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn members(store: &Store, node: NodeId) -> Result<Vec<DesiredRow>, StoreError> {
    Ok(sqlx::query_as!(
        DesiredRow,
        r#"select m.job_id, m.run_number, m.member, m.stop_order, m.stop_cause, m.leave_by, j.name as job_name,
                  t.slug as team, q.slug as queue, j.kind, j.command, j.env, j.working_dir,
                  array(select g.index from member_gpus h join gpus g on g.id = h.gpu_id
                        where h.run_id = m.run_id and h.member = m.member order by g.index) as "gpu_indices!",
                  j.gpu_milli, j.gpu_memory_mib, m.cpu_milli, m.memory_mib,
                  (select count(*) from members a where a.run_id = m.run_id) as "replicas!",
                  r.resume, j.checkpoint, j.checkpoint_signal, j.time_limit_secs
           from members m join runs r on r.id = m.run_id join jobs j on j.id = m.job_id
           join teams t on t.id = j.team_id join queues q on q.id = j.queue_id
           where m.node_id = $1 and m.state <> 'ended'
           order by m.job_id, m.member"#,
        node.0
    )
    .fetch_all(store.pool())
    .await?)
}
