//! Runs all loops until cancelled. A loop that fails is started again with growing pauses: no fault of one stops another,
//! and a database that comes back finds them all at work.

use crate::schedule::{Scheduler, Ticked};
use crate::{expire, reap, seal};
use chrono::{DateTime, TimeDelta, Utc};
use rand::Rng;
use reeve_core::clock::SharedClock;
use reeve_store::{Store, beat, signal};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often the loops look by themselves.
#[derive(Debug, Clone, Copy)]
pub struct Rhythm {
    pub schedule: Duration,
    pub seal: Duration,
    pub reap: Duration,
    pub expire: Duration,
    /// Beyond a lease's end, before its node is declared lost.
    pub lease_margin: TimeDelta,
}

impl Default for Rhythm {
    fn default() -> Self {
        Self {
            schedule: Duration::from_secs(5),
            seal: Duration::from_millis(500),
            reap: Duration::from_secs(2),
            expire: Duration::from_secs(300),
            lease_margin: TimeDelta::seconds(30),
        }
    }
}

/// Runs every loop until `cancel`; each finishes the step it is in.
pub async fn run_all(store: Store, clock: SharedClock, rhythm: Rhythm, cancel: CancellationToken) {
    tokio::join!(
        carry_signals(&store, &cancel),
        schedule_loop(&store, &clock, rhythm, &cancel),
        seal_loop(&store, &clock, rhythm, &cancel),
        reap_loop(&store, &clock, rhythm, &cancel),
        expire_loop(&store, &clock, rhythm, &cancel),
    );
}

/// Growing pauses after failures.
struct BackOff(Duration);

impl BackOff {
    const FIRST: Duration = Duration::from_millis(100);

    const fn new() -> Self {
        Self(Self::FIRST)
    }

    const fn reset(&mut self) {
        self.0 = Self::FIRST;
    }

    async fn pause(
        &mut self,
        name: &'static str,
        error: &(dyn std::error::Error + Sync),
        cancel: &CancellationToken,
    ) {
        let cause = error.source().map(ToString::to_string);
        tracing::warn!(%error, cause, pause_ms = self.0.as_millis(), "loop {name} failed; it will try again");
        metrics::counter!("reeve_loop_failures_total", "loop" => name).increment(1);
        wait(self.0, cancel).await;
        self.0 = (self.0 * 2).min(Duration::from_secs(5));
    }
}

/// Sleeps, but not beyond the cancel.
async fn wait(pause: Duration, cancel: &CancellationToken) {
    tokio::select! {
        () = tokio::time::sleep(pause) => {}
        () = cancel.cancelled() => {}
    }
}

async fn carry_signals(store: &Store, cancel: &CancellationToken) {
    let mut back_off = BackOff::new();
    while !cancel.is_cancelled() {
        tokio::select! {
            Err(error) = signal::run(store) => back_off.pause("signals", &error, cancel).await,
            () = cancel.cancelled() => {}
        }
    }
}

async fn schedule_loop(store: &Store, clock: &SharedClock, rhythm: Rhythm, cancel: &CancellationToken) {
    let mut woken = store.signals().schedule();
    let mut scheduler = Scheduler::new(store);
    let mut back_off = BackOff::new();
    while !cancel.is_cancelled() {
        // What changes from here on wakes the next step.
        woken.borrow_and_update();
        let now = clock.now();
        let pause = match scheduler.step(now).await {
            Ok(Ticked::Stale) => Duration::ZERO,
            Ok(Ticked::Busy) => Duration::from_millis(20),
            Ok(Ticked::Applied { next_due, .. }) => {
                back_off.reset();
                beat_or_warn(store, "schedule", now).await;
                until(now, next_due, jittered(rhythm.schedule))
            }
            Err(error) => {
                back_off.pause("schedule", &error, cancel).await;
                continue;
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            changed = woken.changed() => if changed.is_err() { return },
            () = cancel.cancelled() => {}
        }
    }
}

/// The timer, or sooner if time alone may change the plan sooner; never a busy loop.
fn until(now: DateTime<Utc>, due: Option<DateTime<Utc>>, timer: Duration) -> Duration {
    due.and_then(|due| (due - now).to_std().ok())
        .map_or(timer, |due| timer.min(due.max(Duration::from_millis(50))))
}

/// ± a fifth, so that two servers do not tick together.
fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(rand::rng().random_range(0.8..1.2))
}

async fn seal_loop(store: &Store, clock: &SharedClock, rhythm: Rhythm, cancel: &CancellationToken) {
    let mut woken = store.signals().unsealed();
    let mut back_off = BackOff::new();
    while !cancel.is_cancelled() {
        woken.borrow_and_update();
        let pause = match seal::step(store, clock.now()).await {
            Ok(sealed) => {
                back_off.reset();
                // Held back by a running transaction, or by another sealer: soon again, but not at once.
                if sealed.again { Duration::from_millis(10) } else { rhythm.seal }
            }
            Err(error) => {
                back_off.pause("seal", &error, cancel).await;
                continue;
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            changed = woken.changed() => if changed.is_err() { return },
            () = cancel.cancelled() => {}
        }
    }
}

async fn reap_loop(store: &Store, clock: &SharedClock, rhythm: Rhythm, cancel: &CancellationToken) {
    let mut back_off = BackOff::new();
    while !cancel.is_cancelled() {
        match reap::step(store, clock.now(), rhythm.lease_margin).await {
            Ok(_) => {
                back_off.reset();
                wait(rhythm.reap, cancel).await;
            }
            Err(error) => back_off.pause("reap", &error, cancel).await,
        }
    }
}

async fn expire_loop(store: &Store, clock: &SharedClock, rhythm: Rhythm, cancel: &CancellationToken) {
    let mut back_off = BackOff::new();
    while !cancel.is_cancelled() {
        match expire::step(store, clock.now()).await {
            Ok(_) => {
                back_off.reset();
                wait(rhythm.expire, cancel).await;
            }
            Err(error) => back_off.pause("expire", &error, cancel).await,
        }
    }
}

async fn beat_or_warn(store: &Store, name: &str, now: DateTime<Utc>) {
    if let Err(error) = beat::beat(store, name, now).await {
        tracing::warn!(%error, "cannot say that loop {name} works");
    }
}
