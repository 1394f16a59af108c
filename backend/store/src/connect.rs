//! The connection pool, and how patient it is.
//!
//! The pool reconnects by itself; what it cannot get in time is [`StoreError::Unavailable`]. Nothing here retries
//! a statement: only the caller knows whether it may run twice.

use crate::error::StoreError;
use crate::lanes::Lanes;
use crate::signal::Signals;
use crate::write_tx::{WriteContext, WriteTx};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgPool};
use std::sync::Arc;
use std::time::Duration;

/// How to reach PostgreSQL.
#[derive(Clone)]
pub struct ConnectOptions {
    /// `postgres://user:password@host:port/database`; never printed.
    pub url: String,
    pub max_connections: u32,
    /// Longest wait for a free connection before a request is answered 503.
    pub acquire_timeout: Duration,
    pub statement_timeout: Duration,
    pub lock_timeout: Duration,
    /// How long to go on trying to reach the database at the start.
    pub startup_timeout: Duration,
}

impl ConnectOptions {
    /// The defaults for a server.
    #[must_use]
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            max_connections: 24,
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
            lock_timeout: Duration::from_secs(10),
            startup_timeout: Duration::from_secs(30),
        }
    }
}

impl std::fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("url", &"(redacted)")
            .field("max_connections", &self.max_connections)
            .finish_non_exhaustive()
    }
}

/// A handle to everything that Reeve keeps. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pool: PgPool,
    lanes: Arc<Lanes>,
    signals: Arc<Signals>,
}

impl Store {
    /// Connects, trying again with growing pauses for as long as the options allow: a database that is still
    /// starting is not an error.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it could not be reached in time; [`StoreError::Internal`] for a bad URL.
    pub async fn connect(options: &ConnectOptions) -> Result<Self, StoreError> {
        let pool = pool_options(options).connect_lazy_with(connect_options(options)?);
        let store = Self { pool, lanes: Arc::default(), signals: Arc::new(Signals::new()) };
        let deadline = tokio::time::Instant::now() + options.startup_timeout;
        let mut pause = Duration::from_millis(50);
        loop {
            match store.ping().await {
                Ok(()) => return Ok(store),
                Err(error) if error.is_transient() && tokio::time::Instant::now() + pause < deadline => {
                    tracing::warn!(%error, pause_ms = pause.as_millis(), "database not reachable yet");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(2));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// One round trip.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the database does not answer.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.pool.acquire().await?.ping().await?;
        Ok(())
    }

    /// Begins a transaction that changes things; see [`WriteTx`].
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn begin(&self, context: WriteContext) -> Result<WriteTx, StoreError> {
        Ok(WriteTx::new(self.pool.begin().await?, context, Arc::clone(&self.signals)))
    }

    /// What wakes loops and long polls.
    #[must_use]
    pub fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Connections open and idle: for metrics.
    #[must_use]
    pub fn pool_size(&self) -> (u32, usize) {
        (self.pool.size(), self.pool.num_idle())
    }

    /// Closes every connection; for the end of a test or a server.
    pub async fn close(&self) {
        self.lanes.clear();
        self.pool.close().await;
    }

    pub(crate) fn pool(&self) -> &PgPool {
        &self.pool
    }

    pub(crate) fn lanes(&self) -> &Lanes {
        &self.lanes
    }
}

fn connect_options(options: &ConnectOptions) -> Result<PgConnectOptions, StoreError> {
    let parsed: PgConnectOptions = options.url.parse().map_err(StoreError::Internal)?;
    Ok(parsed.application_name("reeve").options([
        ("statement_timeout", options.statement_timeout.as_millis().to_string()),
        ("lock_timeout", options.lock_timeout.as_millis().to_string()),
        ("idle_in_transaction_session_timeout", "60000".to_owned()),
    ]))
}

fn pool_options(options: &ConnectOptions) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(options.max_connections)
        .acquire_timeout(options.acquire_timeout)
        // A ping for each statement would double the round trips: only a connection that rested is tried first.
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for > Duration::from_secs(1) {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
}
