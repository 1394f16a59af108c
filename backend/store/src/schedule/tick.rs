//! One scheduling tick's transaction: lock, load, then apply or let go.
//!
//! The session lock is taken before BEGIN: taken inside a REPEATABLE READ transaction, the snapshot would be older
//! than the lock, and two ticks could book the same GPUs. The lock only saves work; what keeps two ticks apart for
//! good are the guarded updates.

use super::apply::{self, Applied};
use super::changes;
use super::explanations::Freshness;
use super::kept::{self, Kept};
use super::snapshot::Loaded;
use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{Actor, WriteContext, write_events};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::RowId;
use reeve_core::schedule::plan::Plan;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

const LOCK: i64 = 0x7265_6576_6500_0002;

/// How often what everybody has seen is taken out of the log of changes.
const PRUNE_EVERY: TimeDelta = TimeDelta::seconds(5);

/// A connection of its own for ticks: closing it frees the session lock, whatever happened. With it goes what was kept
/// of the world from the tick before.
#[derive(Debug)]
pub struct TickSession {
    store: Store,
    connection: PgConnection,
    /// Names this session in the log of changes.
    id: Uuid,
    kept: Option<Kept>,
    /// When the log was pruned last, and how far this session had looked then.
    pruned: Option<(DateTime<Utc>, String)>,
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
        Ok(Self {
            store: store.clone(),
            connection: store.pool().acquire().await?.detach(),
            // No time matters here: the random part is the name.
            id: RowId::mint(DateTime::UNIX_EPOCH).0,
            kept: None,
            pruned: None,
        })
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
        // How many rows a tick reads and writes is what its plans depend on most: one made for an empty table, and kept, is
        // a thousand times slower in a full one.
        sqlx::raw_sql("begin isolation level repeatable read; set local plan_cache_mode = force_custom_plan")
            .execute(&mut self.connection)
            .await?;
        // Taken out: what could not be brought up to date is not believed.
        match kept::look(&mut self.connection, self.kept.take(), self.id, now).await {
            Ok(kept) => Ok(Some(Tick { session: self, kept, now })),
            Err(error) => {
                self.end("rollback").await?;
                Err(error)
            }
        }
    }

    /// Under the lock, between two transactions. A server that looked after this session's last pruning has seen all that
    /// goes now.
    async fn prune(&mut self, kept: &Kept, now: DateTime<Utc>) -> Result<(), StoreError> {
        if self.pruned.as_ref().is_some_and(|(at, _)| (now - *at).abs() < PRUNE_EVERY) {
            return Ok(());
        }
        if let Some((_, horizon)) = &self.pruned {
            changes::prune(&mut self.connection, horizon).await?;
        }
        self.pruned = Some((now, kept.horizon.clone()));
        Ok(())
    }

    async fn end(&mut self, how: &'static str) -> Result<(), StoreError> {
        let ended = sqlx::raw_sql(how).execute(&mut self.connection).await;
        self.unlock().await?;
        ended?;
        Ok(())
    }

    /// As [`TickSession::end`], and what was looked at stays for the next tick: it is what was true, whatever became of
    /// the plan.
    async fn end_and_keep(
        &mut self,
        how: &'static str,
        kept: Kept,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let ended = sqlx::raw_sql(how).execute(&mut self.connection).await;
        let pruned = if ended.is_ok() { self.prune(&kept, now).await } else { Ok(()) };
        self.unlock().await?;
        ended?;
        pruned?;
        self.kept = Some(kept);
        Ok(())
    }

    async fn unlock(&mut self) -> Result<(), StoreError> {
        sqlx::query_scalar!("select pg_advisory_unlock($1)", LOCK).fetch_one(&mut self.connection).await?;
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
    kept: Kept,
    now: DateTime<Utc>,
}

impl Tick<'_> {
    #[must_use]
    pub fn loaded(&self) -> &Loaded {
        &self.kept.loaded
    }

    /// Lets go without any change.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: open a new session.
    pub async fn abandon(self) -> Result<(), StoreError> {
        self.session.end_and_keep("rollback", self.kept, self.now).await
    }

    /// Makes a plan true, wholly or not at all.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] and defects; a plan overtaken by events is [`Outcome::Stale`], no error.
    pub async fn apply(self, plan: &Plan, freshness: Freshness) -> Result<Outcome, StoreError> {
        let Self { session, mut kept, now } = self;
        let context = WriteContext { actor: Actor::system("scheduler"), request_id: None, now };
        let (id, connection) = (session.id, &mut session.connection);
        let applied = async {
            let change = apply::apply(connection, id, &context, &kept.loaded, plan, freshness).await?;
            if !change.events.is_empty() {
                write_events(connection, &context, &change.events).await?;
            }
            Ok::<_, StoreError>(change)
        }
        .await;
        match applied {
            Ok(change) => {
                // The log tells of all but explanations; these are this session's own.
                kept.loaded.reason_hashes.extend(change.reason_hashes);
                match session.end_and_keep("commit", kept, now).await {
                    Ok(()) => {}
                    Err(error) if is_stale(&error) => return Ok(Outcome::Stale),
                    Err(error) => return Err(error),
                }
                let signals = session.store.signals();
                if !change.events.is_empty() {
                    signals.wake_sealer();
                }
                signals.desired_changed(change.nodes);
                Ok(Outcome::Applied(change.applied))
            }
            Err(error) if is_stale(&error) => {
                session.end_and_keep("rollback", kept, now).await?;
                Ok(Outcome::Stale)
            }
            Err(error) => {
                session.end("rollback").await?;
                Err(error)
            }
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
