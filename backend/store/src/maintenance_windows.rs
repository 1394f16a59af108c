//! Maintenance windows: times in which nodes take no work.
//!
//! This module never touches a node's state: that a window is open is read off its times, so nothing must be set back.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::{MaintenanceWindowId, NodeId, PoolId, UserId};
use serde_json::{Value, json};
use uuid::Uuid;

/// A window with its nodes, by name.
#[derive(Debug, Clone)]
pub struct MaintenanceWindow {
    pub id: Uuid,
    pub starts_at: DateTime<Utc>,
    pub ends_at: DateTime<Utc>,
    pub note: String,
    pub node_ids: Vec<Uuid>,
    pub node_names: Vec<String>,
    pub created_by: Uuid,
    pub username: String,
    pub display_name: String,
    pub created_at: DateTime<Utc>,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct NewMaintenanceWindow {
    pub nodes: Vec<NodeId>,
    pub starts_at: DateTime<Utc>,
    pub ends_at: DateTime<Utc>,
    pub note: String,
    pub created_by: UserId,
}

/// What a list may be narrowed to.
#[derive(Debug, Clone)]
pub struct Filter {
    /// Those with a node of the pool.
    pub pool: Option<PoolId>,
    /// Those of the node.
    pub node: Option<NodeId>,
    /// Those that end after this.
    pub from: DateTime<Utc>,
    /// Those that begin before this.
    pub to: Option<DateTime<Utc>>,
}

/// Where a page goes on: the last row's beginning, and its id.
pub type Key = (DateTime<Utc>, Uuid);

macro_rules! select_windows {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            MaintenanceWindow,
            r#"select w.id, w.starts_at, w.ends_at, w.note, k.ids as "node_ids!", k.names as "node_names!",
                      w.created_by, u.username, u.display_name, w.created_at
               from maintenance_windows w join users u on u.id = w.created_by
               cross join lateral (
                   select coalesce(array_agg(n.id order by n.name), '{}') as ids,
                          coalesce(array_agg(n.name order by n.name), '{}') as names
                   from maintenance_window_nodes m join nodes n on n.id = m.node_id where m.window_id = w.id) k "# + $rest
            $(, $argument)*
        )
    };
}

/// The first to begin first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    filter: &Filter,
    after: Option<Key>,
    limit: i64,
) -> Result<Vec<MaintenanceWindow>, StoreError> {
    let (after_at, after_id) = after.unzip();
    Ok(select_windows!(
        "where w.ends_at > $1 and ($2::timestamptz is null or w.starts_at < $2)
           and (($3::uuid is null and $4::uuid is null) or exists (
                select 1 from maintenance_window_nodes m join nodes n on n.id = m.node_id
                where m.window_id = w.id and ($3::uuid is null or n.pool_id = $3)
                  and ($4::uuid is null or n.id = $4)))
           and ($5::timestamptz is null or (w.starts_at, w.id) > ($5, $6))
         order by w.starts_at, w.id limit $7",
        filter.from,
        filter.to,
        filter.pool.map(|id| id.0),
        filter.node.map(|id| id.0),
        after_at,
        after_id,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// Nodes by name or id, each with what was asked for it; those that are not there are left out.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn nodes_named(tx: &mut WriteTx, names: &[String]) -> Result<Vec<(String, NodeId)>, StoreError> {
    let rows = sqlx::query!(
        r#"select a.name as "name!", n.id from unnest($1::text[]) a (name)
           join nodes n on n.state <> 'removed' and (n.name = a.name or n.id::text = a.name)"#,
        names
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(rows.into_iter().map(|row| (row.name, NodeId(row.id))).collect())
}

/// Nodes of a pool with all of these labels, as they are now.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn nodes_of(tx: &mut WriteTx, pool: PoolId, labels: &Value) -> Result<Vec<NodeId>, StoreError> {
    let ids = sqlx::query_scalar!(
        "select id from nodes where pool_id = $1 and state <> 'removed' and labels @> $2 order by id",
        pool.0,
        labels
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(ids.into_iter().map(NodeId).collect())
}

/// Keeps a new window.
///
/// # Errors
/// [`StoreError::Reference`] when a node is gone.
pub async fn create(tx: &mut WriteTx, new: &NewMaintenanceWindow) -> Result<MaintenanceWindow, StoreError> {
    let (id, now) = (MaintenanceWindowId::mint(tx.now()), tx.now());
    sqlx::query!(
        "insert into maintenance_windows (id, starts_at, ends_at, note, created_by, created_at)
         values ($1, $2, $3, $4, $5, $6)",
        id.0,
        new.starts_at,
        new.ends_at,
        new.note,
        new.created_by.0,
        now
    )
    .execute(tx.connection())
    .await?;
    let nodes: Vec<Uuid> = new.nodes.iter().map(|node| node.0).collect();
    sqlx::query!(
        "insert into maintenance_window_nodes (window_id, node_id) select $1, n from unnest($2::uuid[]) n",
        id.0,
        &nodes
    )
    .execute(tx.connection())
    .await?;
    let made = select_windows!("where w.id = $1", id.0).fetch_one(tx.connection()).await?;
    tx.record(NewEvent::new("maintenance_window.created", "maintenance_window", id.0).after(as_json(&made)));
    tx.wake_schedule();
    Ok(made)
}

/// Withdraws a window; one that is open ends at once.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn delete(tx: &mut WriteTx, id: MaintenanceWindowId) -> Result<(), StoreError> {
    let gone = select_windows!("where w.id = $1 for update of w", id.0).fetch_one(tx.connection()).await?;
    sqlx::query!("delete from maintenance_windows where id = $1", id.0).execute(tx.connection()).await?;
    tx.record(NewEvent::new("maintenance_window.deleted", "maintenance_window", id.0).before(as_json(&gone)));
    tx.wake_schedule();
    Ok(())
}

fn as_json(row: &MaintenanceWindow) -> Value {
    json!({
        "nodes": row.node_names,
        "starts_at": row.starts_at,
        "ends_at": row.ends_at,
        "note": row.note,
    })
}
