//! The scheduling loop: wakes on a change, by its timer, or when time alone may change the plan.
//!
//! Wakes that come while a step works are one wake. In debug builds every plan is judged before it is applied; a plan
//! that breaks a rule is not applied.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::JobId;
use reeve_core::kind::Kind;
use reeve_core::schedule::plan::Plan;
use reeve_core::schedule::snapshot::Snapshot;
use reeve_core::schedule::{check, plan};
use reeve_store::beat::Tick;
use reeve_store::dependencies;
use reeve_store::schedule::apply::Applied;
use reeve_store::schedule::explanations::Freshness;
use reeve_store::schedule::tick::{Outcome, TickSession};
use reeve_store::{Store, StoreError};
use std::collections::HashSet;
use std::time::Instant;

/// The least time between two writes of explanations whose numbers alone changed, and how much longer than such a write
/// took it is: with a long line they are rewritten for a twentieth of the time at most.
const NUMBERS_EVERY: TimeDelta = TimeDelta::seconds(10);
const NUMBERS_REST: i32 = 20;

/// What a step did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ticked {
    Applied {
        applied: Applied,
        /// When time alone may change the plan.
        next_due: Option<DateTime<Utc>>,
        /// For readiness and the console.
        tick: Tick,
    },
    /// The world changed meanwhile: step again at once.
    Stale,
    /// Another server is at it.
    Busy,
}

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
pub enum TickError {
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The scheduler's connection and memory.
#[derive(Debug)]
pub struct Scheduler {
    store: Store,
    session: Option<TickSession>,
    /// When numbers are written again; `None` = now.
    numbers_due: Option<DateTime<Utc>>,
}

impl Scheduler {
    #[must_use]
    pub fn new(store: &Store) -> Self {
        Self { store: store.clone(), session: None, numbers_due: None }
    }

    /// One tick as of `now`.
    ///
    /// # Errors
    /// [`TickError`]; the next step begins with a new connection.
    pub async fn step(&mut self, now: DateTime<Utc>) -> Result<Ticked, TickError> {
        // Taken out, so that an error or a cancelled step closes the connection and with it the lock.
        let mut session = match self.session.take() {
            Some(session) => session,
            None => TickSession::open(&self.store).await?,
        };
        let ticked = self.tick(&mut session, now).await?;
        self.session = Some(session);
        Ok(ticked)
    }

    async fn tick(&mut self, session: &mut TickSession, now: DateTime<Utc>) -> Result<Ticked, TickError> {
        let began = Instant::now();
        // A job whose last dependency has just ended stands in line in this very tick; one that is cancelled may free, or
        // end, others in its turn.
        while dependencies::settle(&self.store, now).await?.cancelled > 0 {}
        let Some(tick) = session.begin(now).await? else { return Ok(Ticked::Busy) };
        phase("load", began);
        let planning = Instant::now();
        let snapshot = &tick.loaded().snapshot;
        let decided = plan(snapshot);
        phase("plan", planning);
        if cfg!(debug_assertions)
            && let Some(broken) = broken(&check::violations(snapshot, &decided))
        {
            // The judge shadows the planner: what it finds is a defect of one of the two. The store's own guards keep
            // GPUs from being booked twice, and a pool that stands still would be worse.
            tracing::error!(broken, "the judge faults the plan");
            metrics::counter!("reeve_plans_faulted_total").increment(1);
        }
        let freshness = self.freshness(now);
        let waits = waits(snapshot, &decided);
        let applying = Instant::now();
        let outcome = tick.apply(&decided, freshness).await?;
        phase("apply", applying);
        metrics::histogram!("reeve_tick_seconds").record(began.elapsed().as_secs_f64());
        Ok(match outcome {
            Outcome::Stale => {
                metrics::counter!("reeve_ticks_stale_total").increment(1);
                Ticked::Stale
            }
            Outcome::Applied(applied) => {
                if freshness == Freshness::Numbers {
                    let took = TimeDelta::from_std(applying.elapsed()).unwrap_or(NUMBERS_EVERY);
                    self.numbers_due = Some(now + NUMBERS_EVERY.max(took * NUMBERS_REST));
                }
                count(&applied, &decided);
                for (kind, secs) in waits {
                    metrics::histogram!("reeve_job_wait_seconds", "kind" => kind.as_str()).record(secs);
                }
                let tick = Tick {
                    tick_ms: i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX),
                    pending_jobs: i64::try_from(decided.waiting.len()).unwrap_or(i64::MAX),
                };
                Ticked::Applied { applied, next_due: decided.next_due, tick }
            }
        })
    }

    /// The next step writes explanations whose numbers alone changed, however short ago it did.
    pub fn want_numbers(&mut self) {
        self.numbers_due = None;
    }

    fn freshness(&self, now: DateTime<Utc>) -> Freshness {
        // A clock that was set back must not make them wait for ever.
        let longest = NUMBERS_EVERY * (NUMBERS_REST * 3);
        let due = self.numbers_due.is_none_or(|due| due <= now || due - now > longest);
        if due { Freshness::Numbers } else { Freshness::Reasons }
    }
}

fn broken(violations: &[check::Violation]) -> Option<String> {
    (!violations.is_empty())
        .then(|| violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

fn phase(name: &'static str, since: Instant) {
    metrics::histogram!("reeve_tick_phase_seconds", "phase" => name).record(since.elapsed().as_secs_f64());
}

/// How long the jobs that start for the first time have waited.
fn waits(snapshot: &Snapshot, plan: &Plan) -> Vec<(Kind, f64)> {
    let starting: HashSet<JobId> =
        plan.starts.iter().filter(|start| !start.grow).map(|start| start.job).collect();
    if starting.is_empty() {
        return Vec::new();
    }
    let first = snapshot.jobs.iter().filter(|job| job.run_number == 0 && starting.contains(&job.id));
    first
        .map(|job| {
            let waited = (snapshot.now - job.submitted_at).to_std().unwrap_or_default();
            (job.kind, waited.as_secs_f64())
        })
        .collect()
}

fn count(applied: &Applied, plan: &Plan) {
    let decisions = [
        ("start", applied.starts),
        ("grow", applied.grown),
        ("evict", applied.evictions),
        ("drop", applied.dropped),
    ];
    for (decision, number) in decisions {
        metrics::counter!("reeve_decisions_total", "decision" => decision).increment(number as u64);
    }
    for eviction in plan.reclaims.iter().flat_map(|reclaim| &reclaim.evictions) {
        metrics::counter!("reeve_evictions_total", "cause" => eviction.cause.as_str()).increment(1);
    }
    #[expect(clippy::cast_precision_loss, reason = "a gauge")]
    metrics::gauge!("reeve_jobs_waiting").set(plan.waiting.len() as f64);
}
