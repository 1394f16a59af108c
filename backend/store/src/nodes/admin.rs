//! What people do to nodes: labels, cordon, drain, removal.
//!
//! This module refuses to move jobs: a draining node's work is asked to leave by the planner.

use super::list::NodeRow;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use reeve_core::id::NodeId;
use reeve_core::node::NodeState;
use serde_json::json;
use std::collections::BTreeMap;

/// Changes a node's labels, if it is still as seen.
///
/// # Errors
/// [`StoreError::Conflict`] when it changed meanwhile.
pub async fn set_labels(
    tx: &mut WriteTx,
    node: &NodeRow,
    labels: &BTreeMap<String, String>,
) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update nodes set labels = $3, version = version + 1, updated_at = $4 where id = $1 and version = $2",
        node.id,
        node.version,
        json!(labels),
        now
    )
    .execute(tx.connection())
    .await?;
    expect_one(done.rows_affected())?;
    tx.record(
        NewEvent::new("node.edited", "node", node.id)
            .before(json!({"labels": node.labels}))
            .after(json!({"labels": labels})),
    );
    tx.wake_schedule();
    Ok(())
}

/// Sets whether a node takes work (`ready`, `cordoned` or `draining`), if it is still as seen. A lost node keeps
/// its state until its agent is back, and then goes to the new one.
///
/// # Errors
/// [`StoreError::Conflict`] when it changed meanwhile.
pub async fn set_state(
    tx: &mut WriteTx,
    node: &NodeRow,
    state: NodeState,
    note: Option<&str>,
) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update nodes set state = case state when 'lost' then state else $3 end,
             state_before_lost = case state when 'lost' then $3 end,
             state_note = $4, version = version + 1, updated_at = $5
         where id = $1 and version = $2 and state <> 'removed'",
        node.id,
        node.version,
        state.as_str(),
        note,
        now
    )
    .execute(tx.connection())
    .await?;
    expect_one(done.rows_affected())?;
    let action = match state {
        NodeState::Cordoned => "node.cordoned",
        NodeState::Draining => "node.draining",
        _ => "node.uncordoned",
    };
    tx.record(
        NewEvent::new(action, "node", node.id)
            .before(json!({"state": node.state, "state_note": node.state_note}))
            .after(json!({"state": state, "state_note": note})),
    );
    tx.wake_schedule();
    Ok(())
}

/// Takes an empty or lost node out, with its credentials. `Ok(n)` with `n` > 0: refused, `n` members live there.
///
/// # Errors
/// [`StoreError::Conflict`] when it changed meanwhile.
pub async fn remove(tx: &mut WriteTx, node: &NodeRow) -> Result<i64, StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update nodes set state = 'removed', version = version + 1, updated_at = $3
         where id = $1 and version = $2 and state <> 'removed'",
        node.id,
        node.version,
        now
    )
    .execute(tx.connection())
    .await?;
    expect_one(done.rows_affected())?;
    let live = sqlx::query_scalar!(
        r#"select count(*) as "live!" from members where node_id = $1 and state <> 'ended'"#,
        node.id
    )
    .fetch_one(tx.connection())
    .await?;
    if live > 0 {
        return Ok(live);
    }
    sqlx::query!(
        "update node_credentials set revoked_at = $2 where node_id = $1 and revoked_at is null",
        node.id,
        now
    )
    .execute(tx.connection())
    .await?;
    tx.record(
        NewEvent::new("node.removed", "node", node.id)
            .before(json!({"state": node.state, "name": node.name, "pool": node.pool_slug})),
    );
    tx.wake_nodes([NodeId(node.id)]);
    tx.wake_schedule();
    Ok(0)
}

const fn expect_one(rows: u64) -> Result<(), StoreError> {
    if rows == 1 { Ok(()) } else { Err(StoreError::Conflict) }
}
