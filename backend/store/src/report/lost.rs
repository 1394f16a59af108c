//! Nodes whose lease ran out: what ran there is gone, and their gangs go back in line.
//!
//! Only after lease and margin: until then the agent may still be stopping its jobs. A lost node takes nothing until
//! its agent is back and has swept what it still ran.

use super::members::{Key, Moved};
use super::runs;
use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteContext};
use chrono::TimeDelta;
use reeve_core::id::NodeId;
use reeve_core::job::MemberState;
use reeve_core::lifecycle::EndKind;
use serde_json::json;
use uuid::Uuid;

/// Declares lost every node whose lease ended more than `margin` ago; answers which. One transaction a node, so that
/// one node in trouble does not keep the others.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn reap(
    store: &Store,
    context: &WriteContext,
    margin: TimeDelta,
) -> Result<Vec<NodeId>, StoreError> {
    let overdue = sqlx::query_scalar!(
        "select n.id from nodes n join node_leases l on l.node_id = n.id
         where n.state in ('ready', 'cordoned', 'draining') and l.lease_until < $1 order by n.id",
        context.now - margin
    )
    .fetch_all(store.pool())
    .await?;
    let mut lost = Vec::new();
    for node in overdue {
        if declare_lost(store, context.clone(), node, margin).await? {
            lost.push(NodeId(node));
        }
    }
    Ok(lost)
}

/// Declares one node lost if its lease is still over; `false` = it came back.
async fn declare_lost(
    store: &Store,
    context: WriteContext,
    node: Uuid,
    margin: TimeDelta,
) -> Result<bool, StoreError> {
    let now = context.now;
    let mut tx = store.begin(context).await?;
    // Jobs before nodes, as everywhere.
    sqlx::query!(
        "select id from jobs where id in (select job_id from members where node_id = $1 and state <> 'ended')
         order by id for update",
        node
    )
    .fetch_all(tx.connection())
    .await?;
    let declared = sqlx::query!(
        r#"update nodes n set state = 'lost', state_before_lost = n.state, version = n.version + 1, updated_at = $2
           from node_leases l
           where n.id = $1 and l.node_id = n.id and n.state in ('ready', 'cordoned', 'draining')
             and l.lease_until < $3
           returning n.name, n.state_before_lost, l.lease_until"#,
        node,
        now,
        now - margin
    )
    .fetch_optional(tx.connection())
    .await?;
    let Some(declared) = declared else {
        tx.rollback().await?;
        return Ok(false);
    };
    let members = sqlx::query!(
        "select run_id, job_id, run_number, member, started_at, checkpointed_at from members
         where node_id = $1 and state <> 'ended'",
        node
    )
    .fetch_all(tx.connection())
    .await?;
    let moved: Vec<Moved> = members
        .into_iter()
        .map(|row| Moved {
            key: (row.job_id, row.run_number, row.member) as Key,
            run_id: row.run_id,
            state: MemberState::Ended,
            pid: None,
            started_at: row.started_at,
            checkpointed_at: row.checkpointed_at,
            ended_at: Some(now),
            end_kind: Some(EndKind::Lost),
            exit_code: None,
            signal: None,
            end_detail: Some(format!("node {} was lost", declared.name)),
            log_bytes: None,
        })
        .collect();
    tx.record(
        NewEvent::new("node.lost", "node", node)
            .before(json!({"state": declared.state_before_lost, "lease_until": declared.lease_until}))
            .after(json!({"state": "lost", "members": moved.len()})),
    );
    if !moved.is_empty() {
        runs::advance(&mut tx, NodeId(node), &moved).await?;
    }
    crate::schedule::apply::bump(tx.connection(), &[node]).await?;
    tx.wake_nodes([NodeId(node)]);
    tx.wake_schedule();
    tx.commit().await?;
    Ok(true)
}
