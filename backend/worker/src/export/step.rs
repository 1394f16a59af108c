//! Does the oldest export that waits, whole. A fault of the database lets another attempt begin; one of the export itself ends it.

use super::job::Job;
use super::{focus_rows, interval_rows, statement_rows};
use reeve_core::clock::SharedClock;
use reeve_core::money::export::{ExportContent, ExportFormat};
use reeve_store::operations::{self, End, MOST_ATTEMPTS, Operation, ResultFile};
use reeve_store::{Store, StoreError};
use uuid::Uuid;

/// Why an export did not come about.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the workbook could not be written: {0}")]
    Workbook(#[from] rust_xlsxwriter::XlsxError),
    #[error("a temporary file could not be written: {0}")]
    File(#[from] std::io::Error),
    #[error("the parameters are not those of an export: {0}")]
    Params(#[from] serde_json::Error),
    #[error("the work broke off on the way")]
    Lost,
}

/// Does one; answers which.
///
/// # Errors
/// [`StoreError::Unavailable`]: the operation stays running, and is begun anew after a while.
pub async fn step(store: &Store, clock: &SharedClock) -> Result<Option<Uuid>, StoreError> {
    let Some(operation) = operations::claim(store, clock.now()).await? else { return Ok(None) };
    if operation.attempt > MOST_ATTEMPTS {
        let why = format!("given up after {MOST_ATTEMPTS} attempts: see the servers' logs");
        operations::finish(store, &operation, &End::Failed(why), clock.now()).await?;
        return Ok(Some(operation.id));
    }
    let end = match write(store, clock, &operation).await {
        Ok(Some(file)) => End::Succeeded(file),
        Ok(None) => End::Cancelled,
        Err(ExportError::Store(error)) => return Err(error),
        Err(other) => End::Failed(other.to_string()),
    };
    operations::finish(store, &operation, &end, clock.now()).await?;
    Ok(Some(operation.id))
}

/// None = it was cancelled.
async fn write(
    store: &Store,
    clock: &SharedClock,
    operation: &Operation,
) -> Result<Option<ResultFile>, ExportError> {
    let mut job = Job::new(store, clock, operation)?;
    let whole = match (job.params.format, job.params.content) {
        (ExportFormat::Focus, _) => focus_rows::write(&mut job).await?,
        (_, ExportContent::Intervals) => interval_rows::write(&mut job).await?,
        (_, ExportContent::Statement) => statement_rows::write(&mut job).await?,
    };
    if !whole {
        return Ok(None);
    }
    let (name, content_type) = (job.params.file_name(), job.params.content_type().to_owned());
    let bytes = job.sink.close().await?;
    Ok(Some(ResultFile { name, content_type, bytes }))
}
