//! Loads what the calendar still holds: one query for reservations, one for maintenance windows.
//!
//! What is over is not loaded; this module judges nothing.

use crate::error::StoreError;
use crate::row::count;
use chrono::{DateTime, Utc};
use reeve_core::schedule::snapshot::{MaintenanceWindow, Reservation};
use sqlx::PgConnection;

pub(crate) async fn load_reservations(
    connection: &mut PgConnection,
    now: DateTime<Utc>,
) -> Result<Vec<Reservation>, StoreError> {
    let rows = sqlx::query!(
        "select r.id, r.pool_id, r.team_id, r.gpus, r.starts_at, r.ends_at from reservations r
         join pools p on p.id = r.pool_id and p.state = 'active'
         join teams t on t.id = r.team_id and t.state = 'active'
         where r.ends_at > $1 order by r.starts_at, r.id",
        now
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Reservation {
                id: row.id.into(),
                pool: row.pool_id.into(),
                team: row.team_id.into(),
                gpus: count(row.gpus)?,
                starts_at: row.starts_at,
                ends_at: row.ends_at,
            })
        })
        .collect()
}

pub(crate) async fn load_maintenance_windows(
    connection: &mut PgConnection,
    now: DateTime<Utc>,
) -> Result<Vec<MaintenanceWindow>, StoreError> {
    let rows = sqlx::query!(
        r#"select w.id, w.starts_at, w.ends_at, array_agg(m.node_id order by m.node_id) as "nodes!"
           from maintenance_windows w join maintenance_window_nodes m on m.window_id = w.id
           where w.ends_at > $1 group by w.id order by w.starts_at, w.id"#,
        now
    )
    .fetch_all(connection)
    .await?;
    let windows = rows.into_iter().map(|row| MaintenanceWindow {
        id: row.id.into(),
        nodes: row.nodes.into_iter().map(Into::into).collect(),
        starts_at: row.starts_at,
        ends_at: row.ends_at,
    });
    Ok(windows.collect())
}
