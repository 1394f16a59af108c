//! A reservation as JSON.

use crate::refs::{PoolRef, TeamRef, UserRef};
use chrono::{DateTime, Utc};
use reeve_store::reservations::Reservation;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ReservationView {
    pub id: Uuid,
    pub pool: PoolRef,
    pub team: TeamRef,
    /// Whole GPUs.
    pub gpus: i32,
    pub starts_at: DateTime<Utc>,
    pub ends_at: DateTime<Utc>,
    pub note: String,
    pub created_by: UserRef,
    pub created_at: DateTime<Utc>,
}

impl From<Reservation> for ReservationView {
    fn from(row: Reservation) -> Self {
        Self {
            id: row.id,
            pool: PoolRef { id: row.pool_id, slug: row.pool_slug },
            team: TeamRef { id: row.team_id, slug: row.team_slug, name: row.team_name },
            gpus: row.gpus,
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
