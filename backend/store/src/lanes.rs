//! Connections for submissions alone.
//!
//! A pool hands out the connection that rested longest, tries it when it comes back, and lets PostgreSQL plan anew what it
//! believes to be worth it. A submission's statement is large, always the same, and sent by many: here it meets the process
//! that ran it a moment ago, with its plan. This module refuses to repeat a statement.

use crate::error::StoreError;
use sqlx::{Connection, PgConnection, PgPool};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Connections kept; more than are in use at once on most days.
const KEPT: usize = 4;
/// A connection that rested longer is tried first, as the pool's are.
const RESTED: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct Lanes(Mutex<Vec<(PgConnection, Instant)>>);

impl Lanes {
    /// The one that was used last.
    pub(crate) async fn take(&self, pool: &PgPool) -> Result<PgConnection, StoreError> {
        loop {
            let Some((mut connection, since)) = self.idle().pop() else { break };
            if since.elapsed() < RESTED || connection.ping().await.is_ok() {
                return Ok(connection);
            }
        }
        let mut connection = pool.acquire().await?.detach();
        sqlx::raw_sql("set plan_cache_mode = force_generic_plan").execute(&mut connection).await?;
        Ok(connection)
    }

    /// Keeps the connection for the next, unless it broke.
    pub(crate) fn settle<T>(
        &self,
        connection: PgConnection,
        result: Result<T, sqlx::Error>,
    ) -> Result<T, StoreError> {
        if matches!(result, Ok(_) | Err(sqlx::Error::Database(_))) {
            let mut idle = self.idle();
            if idle.len() < KEPT {
                idle.push((connection, Instant::now()));
            }
        }
        Ok(result?)
    }

    pub(crate) fn clear(&self) {
        self.idle().clear();
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(PgConnection, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
