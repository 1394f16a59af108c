//! A session as JSON.

use chrono::{DateTime, Utc};
use reeve_store::sessions::Session;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct SessionView {
    id: Uuid,
    /// `password`, `oidc` or `workload`.
    method: String,
    /// What the browser or program called itself.
    user_agent: Option<String>,
    /// Where it signed in from.
    address: Option<String>,
    created_at: DateTime<Utc>,
    /// The sign-in or its last refresh: right to a quarter of an hour.
    last_used_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    /// The one that asks.
    is_current: bool,
}

impl SessionView {
    pub(crate) fn new(row: Session, current: Option<Uuid>) -> Self {
        Self {
            is_current: current == Some(row.id),
            id: row.id,
            method: row.method,
            user_agent: row.user_agent,
            address: row.address,
            created_at: row.created_at,
            last_used_at: row.last_used_at,
            expires_at: row.expires_at,
        }
    }
}
