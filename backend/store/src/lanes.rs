//! Connections for submissions alone.
//!
//! A pool hands out the connection that rested longest, tries it when it comes back, and lets PostgreSQL plan anew what it
//! believes to be worth it. A submission's statement is large, always the same, and sent by many: here it meets the process
//! that ran it a moment ago, with its plan. Who finds all of them busy takes one of the pool, which bounds how many there
//! are. This module refuses to repeat a statement.

use crate::error::StoreError;
use sqlx::pool::PoolConnection;
use sqlx::{Connection, PgConnection, PgPool, Postgres};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Connections beside the pool's; more than are in use at once on most days.
const LANES: usize = 4;
/// A connection that rested longer is tried first, as the pool's are.
const RESTED: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Lanes {
    free: Semaphore,
    idle: Mutex<Vec<(PgConnection, Instant)>>,
}

impl Default for Lanes {
    fn default() -> Self {
        Self { free: Semaphore::new(LANES), idle: Mutex::default() }
    }
}

/// One of its own that is dropped without having been settled is closed: who knows what its statement became.
pub(crate) enum Lane<'a> {
    Own(PgConnection, SemaphorePermit<'a>),
    Pooled(PoolConnection<Postgres>),
}

impl Lane<'_> {
    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        match self {
            Self::Own(connection, _) => connection,
            Self::Pooled(connection) => connection,
        }
    }
}

impl Lanes {
    /// The one that was used last.
    pub(crate) async fn take(&self, pool: &PgPool) -> Result<Lane<'_>, StoreError> {
        let Ok(permit) = self.free.try_acquire() else { return Ok(Lane::Pooled(pool.acquire().await?)) };
        loop {
            let Some((mut connection, since)) = self.idle().pop() else { break };
            if since.elapsed() < RESTED || connection.ping().await.is_ok() {
                return Ok(Lane::Own(connection, permit));
            }
        }
        let mut connection = pool.acquire().await?.detach();
        sqlx::raw_sql("set plan_cache_mode = force_generic_plan").execute(&mut connection).await?;
        Ok(Lane::Own(connection, permit))
    }

    /// Keeps the lane for the next, unless it may be broken.
    pub(crate) fn settle<T>(&self, lane: Lane<'_>, result: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        if let Lane::Own(connection, _permit) = lane
            && is_sound(&result)
        {
            self.idle().push((connection, Instant::now()));
        }
        Ok(result?)
    }

    pub(crate) fn clear(&self) {
        self.idle().clear();
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(PgConnection, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value that the schema refuses (classes 22 and 23) says nothing against the connection; a server that shuts down does.
fn is_sound<T>(result: &Result<T, sqlx::Error>) -> bool {
    match result {
        Ok(_) => true,
        Err(sqlx::Error::Database(error)) => {
            error.code().is_some_and(|code| code.starts_with("22") || code.starts_with("23"))
        }
        Err(_) => false,
    }
}
