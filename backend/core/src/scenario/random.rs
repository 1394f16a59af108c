//! Random states and walks for properties, `make bench` and whoever wants to frighten a planner.
//!
//! Deterministic: a seed gives the same walk for ever, on every machine. There is no random number crate
//! here: the whole generator is the splitmix64 below, so that `core` stays free of randomness.
//!
//! A walk refuses to look at how plans are made; it only carries them out.

mod events;
mod setup;

use super::cluster::{Cluster, UnknownJob};
use crate::schedule::check::{self, Violation};
use crate::schedule::plan::Plan;
use crate::schedule::snapshot::Snapshot;

/// Splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug, Clone)]
pub struct SplitMix(u64);

impl SplitMix {
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to `below - 1`; 0 when `below` is 0.
    pub const fn below(&mut self, below: u32) -> u32 {
        if below == 0 { 0 } else { (self.draw() % below as u64) as u32 }
    }

    pub const fn one_in(&mut self, of: u32) -> bool {
        self.below(of) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let count = u32::try_from(from.len()).unwrap_or(u32::MAX);
        from.get(self.below(count) as usize)
    }
}

/// How wild a walk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// One pool, whole GPUs on one node, no trees: where the right answer can be found by counting.
    Plain,
    /// Everything: pools, departments, shares, elastic and topology-bound gangs, limits, cordons.
    Mixed,
}

/// What the judge found, and how the walk came there.
#[derive(Debug, Clone)]
pub struct Failure {
    pub seed: u64,
    pub step: u32,
    pub violations: Vec<Violation>,
    pub story: Vec<String>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "seed {} step {}", self.seed, self.step)?;
        self.violations.iter().try_for_each(|violation| write!(f, "\n  {violation}"))?;
        self.story.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// Walks `steps` states from a seed, each planned, judged and carried out; one more plan after each must
/// change nothing (P11).
///
/// # Errors
/// The first violation and its story.
pub fn judge_walk(
    seed: u64,
    steps: u32,
    profile: Profile,
    planner: impl Fn(&Snapshot) -> Plan,
) -> Result<(), Box<Failure>> {
    let mut walk = Walk::new(seed, profile);
    for step in 1..=steps {
        walk.happen();
        let judged = walk.plan(&planner).and_then(|_| {
            let again = planner(walk.snapshot());
            let empty = again.starts.is_empty() && again.reclaims.is_empty() && again.dropped.is_empty();
            let detail = || format!("{} starts, {} reclaims", again.starts.len(), again.reclaims.len());
            if empty { Ok(()) } else { Err(vec![Violation { rule: "planned_again", detail: detail() }]) }
        });
        if let Err(violations) = judged {
            return Err(Box::new(Failure { seed, step, violations, story: walk.story }));
        }
    }
    Ok(())
}

/// A cluster to which random things happen.
#[derive(Debug, Clone)]
pub struct Walk {
    pub cluster: Cluster,
    pub profile: Profile,
    rng: SplitMix,
    submitted: u32,
    /// What happened, for a failing seed's story.
    pub story: Vec<String>,
}

impl Walk {
    #[must_use]
    pub fn new(seed: u64, profile: Profile) -> Self {
        let mut rng = SplitMix::new(seed);
        let cluster = setup::cluster(&mut rng, profile);
        Self { cluster, profile, rng, submitted: 0, story: Vec::new() }
    }

    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.cluster.snapshot
    }

    /// One random thing happens.
    pub fn happen(&mut self) {
        let event = events::happen(self);
        self.story.push(event);
    }

    /// Plans, and carries the plan out if the judge finds nothing.
    ///
    /// # Errors
    /// The judge's findings on the plan, or on the state it leads to.
    pub fn plan(&mut self, planner: impl Fn(&Snapshot) -> Plan) -> Result<Plan, Vec<Violation>> {
        let plan = planner(&self.cluster.snapshot);
        let found = check::violations(&self.cluster.snapshot, &plan);
        if !found.is_empty() {
            return Err(found);
        }
        self.carry_out(&plan)
            .map_err(|unknown| vec![Violation { rule: "unknown_job", detail: unknown.to_string() }])?;
        let found = check::state_violations(&self.cluster.snapshot);
        if found.is_empty() { Ok(plan) } else { Err(found) }
    }

    fn carry_out(&mut self, plan: &Plan) -> Result<(), UnknownJob> {
        let evictions = plan.reclaims.iter().flat_map(|reclaim| &reclaim.evictions);
        for eviction in evictions {
            self.story.push(format!("evict {} ({})", self.name(eviction.job), eviction.cause));
        }
        for start in &plan.starts {
            self.story.push(format!("start {}", self.name(start.job)));
        }
        self.cluster.apply(plan)
    }

    fn name(&self, job: crate::id::JobId) -> String {
        self.cluster.job(job).map_or_else(|| "?".into(), |job| job.name.clone())
    }

    /// All that is leaving is gone.
    pub fn vacate_all(&mut self) {
        let leaving: Vec<_> = self
            .cluster
            .snapshot
            .jobs
            .iter()
            .filter(|job| job.members.iter().any(|member| member.leaving.is_some()))
            .map(|job| job.id)
            .collect();
        leaving.into_iter().for_each(|job| self.cluster.vacate(job));
    }
}
