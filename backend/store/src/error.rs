//! What can go wrong between Reeve and its database, by what the caller does about it.
//!
//! There is deliberately no blanket mapping to HTTP here: that one match is the API's.

use sqlx::error::ErrorKind;

/// Why the store could not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No such row, or none that the statement may see.
    #[error("not found")]
    NotFound,
    /// The row is not any more what the caller saw: a guarded update matched nothing.
    #[error("changed meanwhile")]
    Conflict,
    /// Another row has this unique value.
    #[error("already exists ({constraint})")]
    Duplicate { constraint: String },
    /// A row that it points to does not exist, or is still pointed to.
    #[error("broken reference ({constraint})")]
    Reference { constraint: String },
    /// A value that the schema refuses: the name of the CHECK, or `sqlstate_22xxx` for a malformed value.
    #[error("refused by {constraint}")]
    Check { constraint: String },
    /// The database is down, out of connections, or slower than its time-outs: try again later.
    #[error("database unavailable")]
    Unavailable(#[source] sqlx::Error),
    /// Another transaction was in the way (40001, 40P01): try the whole again at once.
    #[error("collided with another transaction")]
    Serialization(#[source] sqlx::Error),
    /// A transaction wanted to commit a change without an event that tells of it.
    #[error("refused to commit without an event")]
    NoEvent,
    /// The database was migrated by a newer Reeve, or not yet by this one.
    #[error("schema mismatch: {0}")]
    Schema(String),
    /// A text column holds a word that this version does not know, or JSON of another shape.
    #[error("unreadable row: {0}")]
    Unreadable(String),
    /// A defect of ours.
    #[error("database error")]
    Internal(#[source] sqlx::Error),
}

impl StoreError {
    /// Worth trying again without any change.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Serialization(_))
    }

    /// The database itself refused the statement, so that surely nothing of it was kept, and another may well be taken.
    #[must_use]
    pub fn is_undone(&self) -> bool {
        match self {
            Self::NotFound
            | Self::Conflict
            | Self::Duplicate { .. }
            | Self::Reference { .. }
            | Self::Check { .. }
            | Self::Serialization(_)
            | Self::NoEvent => true,
            // A lock or the statement took too long: 55P03, 57014.
            Self::Unavailable(sqlx::Error::Database(database)) => {
                matches!(database.code().as_deref(), Some("55P03" | "57014"))
            }
            Self::Unavailable(_) | Self::Schema(_) | Self::Unreadable(_) | Self::Internal(_) => false,
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::RowNotFound => Self::NotFound,
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::BeginFailed => Self::Unavailable(error),
            sqlx::Error::Database(database) => {
                let constraint = database.constraint().unwrap_or("unnamed").to_owned();
                match database.kind() {
                    ErrorKind::UniqueViolation => Self::Duplicate { constraint },
                    ErrorKind::ForeignKeyViolation => Self::Reference { constraint },
                    ErrorKind::CheckViolation => Self::Check { constraint },
                    _ => from_code(error),
                }
            }
            _ => Self::Internal(error),
        }
    }
}

fn from_code(error: sqlx::Error) -> StoreError {
    let code = match &error {
        sqlx::Error::Database(database) => database.code().map(|code| code.into_owned()).unwrap_or_default(),
        _ => String::new(),
    };
    match code.as_str() {
        "40001" | "40P01" => StoreError::Serialization(error),
        // Shut down, starting up, statement or lock time-out, idle in transaction, read-only standby.
        "57P01" | "57P02" | "57P03" | "57P05" | "57014" | "55P03" | "25P03" | "25006" => {
            StoreError::Unavailable(error)
        }
        // Out of connections, memory, disk; connection lost.
        _ if code.starts_with("53") || code.starts_with("08") => StoreError::Unavailable(error),
        // A value that PostgreSQL cannot hold, for example text with a NUL.
        _ if code.starts_with("22") => StoreError::Check { constraint: format!("sqlstate_{code}") },
        _ => StoreError::Internal(error),
    }
}

impl From<reeve_core::status::UnknownText> for StoreError {
    fn from(error: reeve_core::status::UnknownText) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}
