//! A maintenance window as JSON.

use crate::refs::{NodeRef, UserRef};
use chrono::{DateTime, Utc};
use reeve_store::maintenance_windows::MaintenanceWindow;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MaintenanceWindowView {
    pub id: Uuid,
    /// By name.
    pub nodes: Vec<NodeRef>,
    pub starts_at: DateTime<Utc>,
    pub ends_at: DateTime<Utc>,
    pub note: String,
    pub created_by: UserRef,
    pub created_at: DateTime<Utc>,
}

impl From<MaintenanceWindow> for MaintenanceWindowView {
    fn from(row: MaintenanceWindow) -> Self {
        let nodes = row.node_ids.into_iter().zip(row.node_names);
        Self {
            id: row.id,
            nodes: nodes.map(|(id, name)| NodeRef { id, name }).collect(),
            starts_at: row.starts_at,
            ends_at: row.ends_at,
            note: row.note,
            created_by: UserRef {
                id: row.created_by,
                username: row.username,
                display_name: row.display_name,
            },
            created_at: row.created_at,
        }
    }
}
