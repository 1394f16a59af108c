//! Runs all loops until cancelled. A loop that fails is started again with growing pauses: no fault of one stops another,
//! and a database that comes back finds them all at work.

use crate::notify::{Outbound, deliver, fan_out};
use crate::rest::Rest;
use crate::schedule::{Scheduler, Ticked};
use crate::{approvals, checkpoint, expire, export, idle, ledger, reap, seal};
use chrono::{DateTime, TimeDelta, Utc};
use rand::Rng;
use reeve_core::clock::SharedClock;
use reeve_store::{Store, beat, deliveries, signal};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The sealer's rest between two steps: what it adds, at least and at most, until a page changes.
const SEAL_REST: (Duration, Duration) = (Duration::from_millis(15), Duration::from_millis(60));

/// Between two looks for events to tell.
const FAN_OUT_REST: Duration = Duration::from_millis(100);

/// Beyond any lease.
const FOREVER: TimeDelta = TimeDelta::days(36_500);

/// How often the loops look by themselves.
#[derive(Debug, Clone, Copy)]
pub struct Rhythm {
    pub schedule: Duration,
    pub seal: Duration,
    pub reap: Duration,
    pub expire: Duration,
    pub approvals: Duration,
    pub idle: Duration,
    /// The longest that the sender of messages rests.
    pub deliver: Duration,
    pub checkpoint: Duration,
    pub ledger: Duration,
    pub export: Duration,
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
            approvals: Duration::from_secs(1),
            idle: Duration::from_secs(15),
            deliver: Duration::from_secs(2),
            checkpoint: Duration::from_secs(300),
            ledger: Duration::from_secs(60),
            export: Duration::from_secs(2),
            lease_margin: TimeDelta::seconds(30),
        }
    }
}

/// What loops need beside the database.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    /// The key that signs checkpoints; none = nothing is signed.
    pub audit_key_file: Option<PathBuf>,
}

/// Runs every loop until `cancel`; each finishes the step it is in.
pub async fn run_all(
    store: Store,
    clock: SharedClock,
    rhythm: Rhythm,
    outbound: Outbound,
    tools: Tools,
    cancel: CancellationToken,
) {
    // Whoever makes a message wakes whoever sends it.
    let made = tokio::sync::Notify::new();
    tokio::join!(
        carry_signals(&store, &cancel),
        schedule_loop(&store, &clock, rhythm, &cancel),
        seal_loop(&store, &clock, rhythm, &cancel),
        reap_loop(&store, &clock, rhythm, &cancel),
        expire_loop(&store, &clock, rhythm, &cancel),
        approvals_loop(&store, &clock, rhythm, &cancel),
        idle_loop(&store, &clock, rhythm, &cancel),
        fan_out_loop(&store, &clock, rhythm, &outbound, &made, &cancel),
        deliver_loop(&store, &clock, rhythm, &outbound, &made, &cancel),
        checkpoint_loop(&store, &clock, rhythm, tools.audit_key_file, &cancel),
        ledger_loop(&store, &clock, rhythm, &cancel),
        export_loop(&store, &clock, rhythm, &cancel),
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
    let (mut back_off, mut beat, mut stale) = (BackOff::new(), Beat::new(beat::SCHEDULE), 0);
    let (mut rest, mut waited) = (Rest::default(), Duration::MAX);
    while !cancel.is_cancelled() {
        // What changes from here on wakes the next step.
        woken.borrow_and_update();
        let (now, began) = (clock.now(), Instant::now());
        let pause = match scheduler.step(now).await {
            Ok(Ticked::Stale) => {
                stale += 1;
                wait(stale_pause(stale), cancel).await;
                continue;
            }
            Ok(Ticked::Busy) => Duration::from_millis(20),
            Ok(Ticked::Applied { applied, next_due, tick }) => {
                (back_off, stale) = (BackOff::new(), 0);
                let took = began.elapsed();
                beat.after_tick(store, now, Some(tick)).await;
                wait(rest.after(took, applied.is_quiet(), waited), cancel).await;
                until(now, next_due, jittered(rhythm.schedule))
            }
            Err(error) => {
                back_off.pause("schedule", &error, cancel).await;
                continue;
            }
        };
        let rested = Instant::now();
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            changed = woken.changed() => if changed.is_err() { return },
            () = cancel.cancelled() => {}
        }
        waited = rested.elapsed();
    }
}

/// Somebody was faster: at once again, the first time. A plan that stays stale meets a row that no tick will ever find
/// as its snapshot says: that must not become a busy loop.
fn stale_pause(times: u32) -> Duration {
    if times >= 10 {
        tracing::warn!(times, "every plan is stale: `reeve check` shows what does not add up");
    }
    if times <= 1 { Duration::ZERO } else { Duration::from_millis(10 << times.min(7)) }
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
    let (mut back_off, mut beat) = (BackOff::new(), Beat::new("seal"));
    while !cancel.is_cancelled() {
        woken.borrow_and_update();
        let (now, began) = (clock.now(), Instant::now());
        let pause = match seal::step(store, now).await {
            Ok(sealed) => {
                back_off.reset();
                beat.after_step(store, now).await;
                // What comes meanwhile is sealed together: a seal for each event would cost more than the event, and the
                // busier the machine, the longer. After a pause the first one still has its seal at once.
                wait((began.elapsed() * 8).clamp(SEAL_REST.0, SEAL_REST.1), cancel).await;
                // Held back by a running transaction, or by another sealer: soon again.
                if sealed.again { Duration::ZERO } else { rhythm.seal }
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
    let (mut back_off, mut beat, mut hearing) = (BackOff::new(), Beat::new("reap"), reap::Hearing::default());
    while !cancel.is_cancelled() {
        let now = clock.now();
        let margin = rhythm.lease_margin;
        // Until then it only makes sure that the database can be asked.
        let beyond = if hearing.long_enough(now, margin) { margin } else { FOREVER };
        match reap::step(store, now, beyond).await {
            Ok(_) => {
                back_off.reset();
                beat.after_step(store, now).await;
                wait(rhythm.reap, cancel).await;
            }
            Err(error) => {
                hearing.interrupt();
                back_off.pause("reap", &error, cancel).await;
            }
        }
    }
}

async fn expire_loop(store: &Store, clock: &SharedClock, rhythm: Rhythm, cancel: &CancellationToken) {
    let (mut back_off, mut beat) = (BackOff::new(), Beat::new("expire"));
    while !cancel.is_cancelled() {
        let now = clock.now();
        match expire::step(store, now).await {
            Ok(expired) => {
                back_off.reset();
                beat.after_step(store, now).await;
                let pause = if expired.again { Duration::from_millis(100) } else { rhythm.expire };
                wait(pause, cancel).await;
            }
            Err(error) => back_off.pause("expire", &error, cancel).await,
        }
    }
}

async fn approvals_loop(store: &Store, clock: &SharedClock, rhythm: Rhythm, cancel: &CancellationToken) {
    let (mut back_off, mut beat) = (BackOff::new(), Beat::new("approvals"));
    while !cancel.is_cancelled() {
        let now = clock.now();
        match approvals::step(store, now).await {
            Ok(moved) => {
                back_off.reset();
                beat.after_step(store, now).await;
                let pause = if moved.again { Duration::from_millis(100) } else { rhythm.approvals };
                wait(pause, cancel).await;
            }
            Err(error) => back_off.pause("approvals", &error, cancel).await,
        }
    }
}

async fn idle_loop(store: &Store, clock: &SharedClock, rhythm: Rhythm, cancel: &CancellationToken) {
    let (mut back_off, mut beat) = (BackOff::new(), Beat::new("idle"));
    while !cancel.is_cancelled() {
        let now = clock.now();
        match idle::step(store, now).await {
            Ok(looked) => {
                back_off.reset();
                beat.after_step(store, now).await;
                let pause = if looked.again { Duration::from_millis(100) } else { rhythm.idle };
                wait(jittered(pause), cancel).await;
            }
            Err(error) => back_off.pause("idle", &error, cancel).await,
        }
    }
}

async fn fan_out_loop(
    store: &Store,
    clock: &SharedClock,
    rhythm: Rhythm,
    outbound: &Outbound,
    made: &tokio::sync::Notify,
    cancel: &CancellationToken,
) {
    let mut sealed = store.signals().events();
    let (mut back_off, mut beat) = (BackOff::new(), Beat::new("fan_out"));
    while !cancel.is_cancelled() {
        sealed.borrow_and_update();
        let now = clock.now();
        match fan_out::step(store, now, outbound).await {
            Ok(told) => {
                back_off.reset();
                beat.after_step(store, now).await;
                if told.messages > 0 {
                    made.notify_one();
                }
                if told.again {
                    continue;
                }
                // What is sealed meanwhile is told together.
                wait(FAN_OUT_REST, cancel).await;
            }
            Err(error) => {
                back_off.pause("fan_out", &error, cancel).await;
                continue;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(jittered(rhythm.schedule)) => {}
            changed = sealed.changed() => if changed.is_err() { return },
            () = cancel.cancelled() => {}
        }
    }
}

async fn deliver_loop(
    store: &Store,
    clock: &SharedClock,
    rhythm: Rhythm,
    outbound: &Outbound,
    made: &tokio::sync::Notify,
    cancel: &CancellationToken,
) {
    let (mut back_off, mut beat) = (BackOff::new(), Beat::new("deliver"));
    while !cancel.is_cancelled() {
        let now = clock.now();
        let due = match deliver::step(store, clock, outbound).await {
            Ok(sent) if sent.delivered + sent.failed > 0 => continue,
            Ok(_) => deliveries::next_due(store).await,
            Err(error) => Err(error),
        };
        match due {
            Ok(due) => {
                back_off.reset();
                beat.after_step(store, now).await;
                // A test or a resend comes from the API, perhaps on another server: look by oneself too.
                let pause = until(now, due, jittered(rhythm.deliver));
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = made.notified() => {}
                    () = cancel.cancelled() => {}
                }
            }
            Err(error) => back_off.pause("deliver", &error, cancel).await,
        }
    }
}

/// The first look is soon after the start, so that a short-lived server signs too.
async fn checkpoint_loop(
    store: &Store,
    clock: &SharedClock,
    rhythm: Rhythm,
    key_file: Option<PathBuf>,
    cancel: &CancellationToken,
) {
    let Some(key_file) = key_file else { return };
    let mut back_off = BackOff::new();
    wait(rhythm.checkpoint.min(Duration::from_secs(10)), cancel).await;
    while !cancel.is_cancelled() {
        match checkpoint::step(store, &key_file, clock.now()).await {
            Ok(_) => {
                back_off.reset();
                wait(jittered(rhythm.checkpoint), cancel).await;
            }
            Err(error) => back_off.pause("checkpoint", &error, cancel).await,
        }
    }
}

async fn ledger_loop(store: &Store, clock: &SharedClock, rhythm: Rhythm, cancel: &CancellationToken) {
    let (mut back_off, mut beat) = (BackOff::new(), Beat::new("ledger"));
    while !cancel.is_cancelled() {
        let now = clock.now();
        match ledger::step(store, now).await {
            Ok(derived) => {
                back_off.reset();
                beat.after_step(store, now).await;
                let pause = if derived.again { Duration::from_millis(200) } else { jittered(rhythm.ledger) };
                wait(pause, cancel).await;
            }
            Err(error) => back_off.pause("ledger", &error, cancel).await,
        }
    }
}

/// An export under way is left when the server stops: another attempt begins it anew.
async fn export_loop(store: &Store, clock: &SharedClock, rhythm: Rhythm, cancel: &CancellationToken) {
    let mut back_off = BackOff::new();
    while !cancel.is_cancelled() {
        let stepped = tokio::select! {
            stepped = export::step::step(store, clock) => stepped,
            () = cancel.cancelled() => return,
        };
        match stepped {
            Ok(Some(_)) => back_off.reset(),
            Ok(None) => {
                back_off.reset();
                wait(jittered(rhythm.export), cancel).await;
            }
            Err(error) => back_off.pause("export", &error, cancel).await,
        }
    }
}

/// Says that a loop works, at most once a second.
struct Beat {
    name: &'static str,
    last: Option<DateTime<Utc>>,
}

impl Beat {
    const fn new(name: &'static str) -> Self {
        Self { name, last: None }
    }

    async fn after_step(&mut self, store: &Store, now: DateTime<Utc>) {
        self.after_tick(store, now, None).await;
    }

    async fn after_tick(&mut self, store: &Store, now: DateTime<Utc>, tick: Option<beat::Tick>) {
        if self.last.is_some_and(|last| (now - last).abs() < TimeDelta::seconds(1)) {
            return;
        }
        match beat::beat(store, self.name, now, tick).await {
            Ok(()) => self.last = Some(now),
            Err(error) => tracing::warn!(%error, "cannot say that loop {} works", self.name),
        }
    }
}
