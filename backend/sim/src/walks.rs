//! Many random walks at once, and what they break, by rule.
//!
//! This module judges nothing: walks and their rules are `reeve_core::scenario::random`'s. It refuses to
//! stop at the first failure.

use reeve_core::scenario::random::{Failure, Profile, Trial};
use reeve_core::schedule::plan::Plan;
use reeve_core::schedule::snapshot::Snapshot;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is walked.
#[derive(Debug, Clone)]
pub struct Walks {
    /// Even seeds walk the mixed profile, odd ones the plain.
    pub seeds: Range<u64>,
    pub steps: u32,
    pub threads: usize,
}

/// What one rule's failures have in common.
#[derive(Debug, Clone)]
pub struct Broken {
    pub count: u64,
    /// Some of the seeds.
    pub seeds: Vec<u64>,
    /// The shortest story found.
    pub shortest: Box<Failure>,
}

/// Seeds named for one rule.
const NAMED_SEEDS: usize = 20;
/// Failures of one rule that are shrunk: each costs many walks.
const SHRUNK: u64 = 6;

#[must_use]
pub const fn profile_of(seed: u64) -> Profile {
    if seed.is_multiple_of(2) { Profile::Mixed } else { Profile::Plain }
}

impl Walks {
    /// States that are planned if nothing fails.
    #[must_use]
    pub fn states(&self) -> u64 {
        (self.seeds.end - self.seeds.start) * u64::from(self.steps)
    }

    /// Walks them all; `walked` is told after each.
    pub fn search(
        &self,
        planner: impl Fn(&Snapshot) -> Plan + Sync,
        walked: impl Fn() + Sync,
    ) -> BTreeMap<&'static str, Broken> {
        let next = AtomicU64::new(self.seeds.start);
        let broken: Mutex<BTreeMap<&'static str, Broken>> = Mutex::default();
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= self.seeds.end {
                            return;
                        }
                        if let Err(failure) = Trial::new(seed, self.steps, profile_of(seed)).run(&planner) {
                            note(&broken, failure, &planner);
                        }
                        walked();
                    }
                });
            }
        });
        broken.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn note(
    broken: &Mutex<BTreeMap<&'static str, Broken>>,
    failure: Box<Failure>,
    planner: &impl Fn(&Snapshot) -> Plan,
) {
    let lock = || broken.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (rule, seed) = (failure.rule(), failure.trial.seed);
    let known = lock().get(rule).map_or(0, |found| found.count);
    let failure = if known < SHRUNK { failure.shrunk(planner) } else { failure };
    let mut broken = lock();
    let found = broken.entry(rule).or_insert_with(|| Broken {
        count: 0,
        seeds: Vec::new(),
        shortest: failure.clone(),
    });
    found.count += 1;
    if found.seeds.len() < NAMED_SEEDS {
        found.seeds.push(seed);
    }
    if failure.story.len() < found.shortest.story.len() {
        found.shortest = failure;
    }
}
