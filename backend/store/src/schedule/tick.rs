//! One scheduling tick's transaction: lock, load, then apply or let go.
//!
//! The session lock is taken before BEGIN: taken inside a REPEATABLE READ transaction, the snapshot would be older
//! than the lock, and two ticks could book the same GPUs. The lock only saves work; what keeps two ticks apart for
//! good are the guarded updates.

use super::apply::{self, Applied};
use super::explanations::Freshness;
use super::snapshot::{self, Loaded};
use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{Actor, WriteContext, write_events};
use chrono::{DateTime, Utc};
use reeve_core::schedule::plan::Plan;
use sqlx::{Connection, PgConnection};

const LOCK: i64 = 0x7265_6576_6500_0002;

/// A connection of its own for ticks: closing it frees the session lock, whatever happened.
#[derive(Debug)]
pub struct TickSession {
    store: Store,
    connection: PgConnection,
}

/// What became of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Applied(Applied),
    /// The world had changed since the snapshot; nothing happened. Look again at once.
    Stale,
}

impl TickSession {
    /// Opens the connection.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn open(store: &Store) -> Result<Self, StoreError> {
        Ok(Self { store: store.clone(), connection: store.pool().acquire().await?.detach() })
    }

    /// Begins a tick; `None` when another server is at it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: open a new session.
    pub async fn begin(&mut self, now: DateTime<Utc>) -> Result<Option<Tick<'_>>, StoreError> {
        let locked = sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "locked!""#, LOCK)
            .fetch_one(&mut self.connection)
            .await?;
        if !locked {
            return Ok(None);
        }
        sqlx::raw_sql("begin isolation level repeatable read").execute(&mut self.connection).await?;
        let loaded = match snapshot::load(&mut self.connection, now).await {
            Ok(loaded) => loaded,
            Err(error) => {
                self.end("rollback").await?;
                return Err(error);
            }
        };
        Ok(Some(Tick { session: self, loaded, now }))
    }

    async fn end(&mut self, how: &'static str) -> Result<(), StoreError> {
        let ended = sqlx::raw_sql(how).execute(&mut self.connection).await;
        sqlx::query_scalar!("select pg_advisory_unlock($1)", LOCK).fetch_one(&mut self.connection).await?;
        ended?;
        Ok(())
    }

    /// Closes the connection.
    pub async fn close(self) {
        // It is going away anyhow.
        let _ = self.connection.close().await;
    }
}

/// A tick under way, with its snapshot. Dropped without an end, its session must be dropped too.
#[derive(Debug)]
pub struct Tick<'a> {
    session: &'a mut TickSession,
    loaded: Loaded,
    now: DateTime<Utc>,
}

impl Tick<'_> {
    #[must_use]
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Lets go without any change.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: open a new session.
    pub async fn abandon(self) -> Result<(), StoreError> {
        self.session.end("rollback").await
    }

    /// Makes a plan true, wholly or not at all.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] and defects; a plan overtaken by events is [`Outcome::Stale`], no error.
    pub async fn apply(self, plan: &Plan, freshness: Freshness) -> Result<Outcome, StoreError> {
        let Self { session, loaded, now } = self;
        let context = WriteContext { actor: Actor::system("scheduler"), request_id: None, now };
        let applied = async {
            let change = apply::apply(&mut session.connection, &context, &loaded, plan, freshness).await?;
            if !change.events.is_empty() {
                write_events(&mut session.connection, &context, &change.events).await?;
            }
            Ok::<_, StoreError>(change)
        }
        .await;
        let ended = match applied {
            Ok(change) => session.end("commit").await.map(|()| change),
            Err(error) => {
                session.end("rollback").await?;
                Err(error)
            }
        };
        match ended {
            Ok(change) => {
                let signals = session.store.signals();
                if !change.events.is_empty() {
                    signals.wake_sealer();
                }
                signals.desired_changed(change.nodes);
                Ok(Outcome::Applied(change.applied))
            }
            Err(error) if is_stale(&error) => Ok(Outcome::Stale),
            Err(error) => Err(error),
        }
    }
}

/// Somebody else changed a row first, or took the space.
fn is_stale(error: &StoreError) -> bool {
    match error {
        StoreError::Conflict | StoreError::Serialization(_) | StoreError::Duplicate { .. } => true,
        StoreError::Check { constraint } => constraint.contains("_free_"),
        _ => false,
    }
}
