//! What the store could not do, as a problem: the one match.

use super::answer::Problem;
use super::codes::Code;
use reeve_store::StoreError;
use reeve_store::page::CursorError;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::not_found(),
            StoreError::Conflict => Self::new(Code::Conflict),
            StoreError::Duplicate { constraint } if constraint == reeve_store::idempotency::DUPLICATE => {
                Self::new(Code::IdempotencyRunning)
            }
            StoreError::Duplicate { constraint } => {
                Self::new(Code::AlreadyExists).param("constraint", constraint)
            }
            StoreError::Reference { constraint } => {
                Self::new(Code::UnknownReference).param("constraint", constraint)
            }
            StoreError::Check { constraint } => {
                Self::new(Code::InvalidBody).detail(format!("refused by {constraint}"))
            }
            StoreError::Unavailable(_) | StoreError::Serialization(_) => {
                tracing::warn!(%error, source = ?std::error::Error::source(&error), "database unavailable");
                Self::new(Code::Unavailable)
            }
            StoreError::NoEvent
            | StoreError::Schema(_)
            | StoreError::Unreadable(_)
            | StoreError::Internal(_) => Self::internal(&error),
        }
    }
}

impl From<CursorError> for Problem {
    fn from(error: CursorError) -> Self {
        Self::new(Code::CursorMismatch).detail(error.to_string()).error(
            "cursor",
            "cursor_mismatch",
            error.to_string(),
        )
    }
}
