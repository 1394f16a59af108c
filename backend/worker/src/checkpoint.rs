//! Signs checkpoints of the log. The key's file is read anew each time, so that a rotated key needs no restart.

use chrono::{DateTime, Utc};
use reeve_store::audit::checkpoint::{self, Signed};
use reeve_store::audit::key::{AuditKey, KeyError};
use reeve_store::audit::status;
use reeve_store::{Store, StoreError};
use std::path::Path;

/// Why nothing was signed.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// Verifies what was sealed since the last checkpoint, and signs it. What is broken is said, and stays unsigned.
///
/// # Errors
/// [`CheckpointError`].
pub async fn step(store: &Store, key_file: &Path, now: DateTime<Utc>) -> Result<Signed, CheckpointError> {
    let key = AuditKey::load(key_file)?;
    let signed = checkpoint::step(store, &key, now).await?;
    let broken = match &signed {
        Signed::Broken(fault) => Some(fault.to_string()),
        Signed::Nothing | Signed::At(_) => None,
    };
    if let Some(broken) = &broken {
        tracing::error!(broken, "the audit log does not verify: `reeve audit verify --live` says more");
    }
    metrics::gauge!("reeve_audit_broken").set(if broken.is_some() { 1.0 } else { 0.0 });
    status::looked(store, now, broken.as_deref()).await?;
    Ok(signed)
}
