//! Where a result goes: pieces of a fixed size in the database, whatever the rows' sizes.

use reeve_store::{Store, StoreError, operations};
use uuid::Uuid;

/// Of a piece.
const CHUNK_BYTES: usize = 256 * 1_024;

pub(super) struct Sink {
    store: Store,
    operation: Uuid,
    buffer: Vec<u8>,
    seq: i32,
    pub(super) bytes: i64,
}

impl Sink {
    pub(super) fn new(store: &Store, operation: Uuid) -> Self {
        Self { store: store.clone(), operation, buffer: Vec::with_capacity(CHUNK_BYTES), seq: 0, bytes: 0 }
    }

    pub(super) async fn write(&mut self, mut bytes: &[u8]) -> Result<(), StoreError> {
        while self.buffer.len() + bytes.len() >= CHUNK_BYTES {
            let (now, later) = bytes.split_at(CHUNK_BYTES - self.buffer.len());
            self.buffer.extend_from_slice(now);
            bytes = later;
            self.flush().await?;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// The last piece; answers the size of all.
    pub(super) async fn close(mut self) -> Result<i64, StoreError> {
        if !self.buffer.is_empty() {
            self.flush().await?;
        }
        Ok(self.bytes)
    }

    async fn flush(&mut self) -> Result<(), StoreError> {
        operations::add_chunk(&self.store, self.operation, self.seq, &self.buffer).await?;
        self.seq += 1;
        self.bytes += i64::try_from(self.buffer.len()).unwrap_or(0);
        self.buffer.clear();
        Ok(())
    }
}
