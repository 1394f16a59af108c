//! The newest sealed events in memory, so that many listeners on one server cost one query a batch.
//!
//! Whoever wakes first loads what is new; the others find it here. It is a window on the table and never the
//! truth: what is older than the window is read from the table.

use crate::connect::Store;
use crate::error::StoreError;
use crate::event::{self, EventFilter, SealedEvent};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Most events kept.
const WINDOW: usize = 2_000;
/// Most events of one answer.
const BATCH: i64 = 500;

/// A window on the end of the sealed events.
#[derive(Debug, Default)]
pub struct Feed(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    events: VecDeque<Arc<SealedEvent>>,
    /// What the signal for sealed events said when the window was last filled.
    seen: Option<u64>,
}

impl Feed {
    /// Events after `position`, oldest first, at most some hundred: ask again from the last one's position.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn after(&self, store: &Store, position: i64) -> Result<Vec<Arc<SealedEvent>>, StoreError> {
        let mut window = self.0.lock().await;
        let signal = *store.signals().events().borrow();
        if window.seen != Some(signal) {
            window.fill(store).await?;
            window.seen = Some(signal);
        }
        if window.reaches_back_to(position) {
            return Ok(window.after(position));
        }
        // Far behind: not everybody else's business.
        drop(window);
        let events = event::after(store, position, &EventFilter::default(), BATCH).await?;
        Ok(events.into_iter().map(Arc::new).collect())
    }
}

impl Window {
    async fn fill(&mut self, store: &Store) -> Result<(), StoreError> {
        let last = match self.events.back() {
            Some(event) => event.position,
            None => event::last_position(store).await?.saturating_sub(BATCH),
        };
        let mut position = last;
        loop {
            let new = event::after(store, position, &EventFilter::default(), BATCH).await?;
            let full = new.len() as i64 == BATCH;
            position = new.last().map_or(position, |event| event.position);
            self.events.extend(new.into_iter().map(Arc::new));
            while self.events.len() > WINDOW {
                self.events.pop_front();
            }
            if !full {
                return Ok(());
            }
        }
    }

    /// Positions have no gaps, so the window holds all after `position` if it holds the next one.
    fn reaches_back_to(&self, position: i64) -> bool {
        match self.events.front() {
            Some(first) => first.position <= position + 1,
            None => true,
        }
    }

    fn after(&self, position: i64) -> Vec<Arc<SealedEvent>> {
        let start = self.events.partition_point(|event| event.position <= position);
        self.events.iter().skip(start).take(BATCH as usize).cloned().collect()
    }
}
