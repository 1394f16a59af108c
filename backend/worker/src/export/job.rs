//! An export under way: what it writes to, and how it says how far it is.

use super::sink::Sink;
use super::step::ExportError;
use reeve_core::clock::SharedClock;
use reeve_core::money::export::ExportParams;
use reeve_store::Store;
use reeve_store::operations::{self, Operation};

pub(super) struct Job<'a> {
    pub(super) store: &'a Store,
    pub(super) clock: &'a SharedClock,
    pub(super) operation: &'a Operation,
    pub(super) params: ExportParams,
    pub(super) sink: Sink,
    done_rows: i64,
}

impl<'a> Job<'a> {
    /// Rows read at once: what is held in memory.
    pub(super) const PAGE: i64 = 10_000;

    pub(super) fn new(
        store: &'a Store,
        clock: &'a SharedClock,
        operation: &'a Operation,
    ) -> Result<Self, ExportError> {
        let params = serde_json::from_value(operation.params.clone())?;
        let sink = Sink::new(store, operation.id);
        Ok(Self { store, clock, operation, params, sink, done_rows: 0 })
    }

    /// More rows are written. False: stop.
    pub(super) async fn done(&mut self, rows: usize, total: i64) -> Result<bool, ExportError> {
        self.done_rows += i64::try_from(rows).unwrap_or(0);
        let now = self.clock.now();
        Ok(operations::progress(self.store, self.operation, self.done_rows, total, now).await?)
    }
}
