//! Denied attempts are events too; but whoever is denied a million times must not fill the disk with it.
//!
//! Each caller's first attempts of a minute are written one by one. Those beyond are counted, and the count is written: with
//! the next attempt that is, or when the minute is over. What a server counted and had not written is lost with the process
//! if that is killed; this module refuses to lose it at an orderly stop.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_store::{NewEvent, Store, StoreError, WriteContext};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use uuid::Uuid;

/// Attempts of one caller that are written in a minute.
pub const WRITTEN_A_MINUTE: u32 = 20;
/// Callers remembered; beyond, all others share one entry.
const MOST_CALLERS: usize = 10_000;

/// Who was denied what since when.
#[derive(Debug, Clone)]
struct Tally {
    since: DateTime<Utc>,
    written: u32,
    unrecorded: u64,
    /// In whose name the count is written.
    context: WriteContext,
}

/// What becomes of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noted {
    Write { unrecorded: u64 },
    Count,
}

/// Counts of this server.
#[derive(Debug, Default)]
pub(crate) struct Denials(Mutex<HashMap<Uuid, Tally>>);

impl Denials {
    fn note(&self, who: Uuid, context: &WriteContext) -> Noted {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = context.now;
        if map.len() >= MOST_CALLERS && !map.contains_key(&who) {
            map.retain(|_, tally| tally.unrecorded > 0 || !is_over(tally, now));
        }
        let who = if map.len() >= MOST_CALLERS && !map.contains_key(&who) { Uuid::nil() } else { who };
        let fresh = || Tally { since: now, written: 0, unrecorded: 0, context: context.clone() };
        let tally = map.entry(who).or_insert_with(fresh);
        let mut unrecorded = 0;
        if is_over(tally, now) {
            unrecorded = tally.unrecorded;
            *tally = fresh();
        }
        if tally.written >= WRITTEN_A_MINUTE {
            tally.unrecorded += 1;
            return Noted::Count;
        }
        tally.written += 1;
        Noted::Write { unrecorded }
    }

    /// Counts of minutes that are over, or all; they are forgotten here.
    fn take(&self, before: Option<DateTime<Utc>>) -> Vec<Tally> {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = |tally: &Tally| before.is_none_or(|now| is_over(tally, now));
        let taken = map.values().filter(|tally| due(tally) && tally.unrecorded > 0).cloned().collect();
        map.retain(|_, tally| !due(tally));
        taken
    }
}

fn is_over(tally: &Tally, now: DateTime<Utc>) -> bool {
    // A clock that was set back must not keep a minute open for hours.
    (now - tally.since).abs() >= TimeDelta::minutes(1)
}

/// Writes a denied attempt, or counts it.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub(crate) async fn record(
    denials: &Denials,
    store: &Store,
    who: Uuid,
    context: WriteContext,
    mut event: NewEvent,
) -> Result<(), StoreError> {
    let Noted::Write { unrecorded } = denials.note(who, &context) else { return Ok(()) };
    if unrecorded > 0 {
        let mut detail = event.detail.take().unwrap_or_else(|| json!({}));
        detail["unrecorded"] = unrecorded.into();
        event.detail = Some(detail);
    }
    let mut tx = store.begin(context).await?;
    tx.record(event);
    tx.commit().await
}

/// Writes the counts of minutes that are over; with `all` those of minutes that are not, too.
///
/// # Errors
/// [`StoreError::Unavailable`]; what was not written is lost.
pub(crate) async fn flush(
    denials: &Denials,
    store: &Store,
    now: DateTime<Utc>,
    all: bool,
) -> Result<usize, StoreError> {
    let due = denials.take(if all { None } else { Some(now) });
    for tally in &due {
        let mut event = NewEvent::new("attempts.unrecorded", "installation", Uuid::nil())
            .denied("rate")
            .detail(json!({"unrecorded": tally.unrecorded, "since": tally.since}));
        event.subject_id = None;
        let context = WriteContext { now, request_id: None, ..tally.context.clone() };
        let mut tx = store.begin(context).await?;
        tx.record(event);
        tx.commit().await?;
    }
    Ok(due.len())
}
