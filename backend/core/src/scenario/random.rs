//! Random states and walks for properties, `make bench` and whoever wants to frighten a planner.
//!
//! Deterministic: a seed gives the same walk for ever, on every machine. There is no random number crate
//! here: the whole generator is the splitmix64 below, so that `core` stays free of randomness.
//!
//! A walk refuses to look at how plans are made; it only carries them out.

mod events;
mod jobs;
mod properties;
mod setup;
mod trial;

pub use trial::{Failure, Trial, judge_walk};

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

/// A cluster to which random things happen.
#[derive(Debug, Clone)]
pub struct Walk {
    pub cluster: Cluster,
    pub profile: Profile,
    seed: u64,
    step: u32,
    rng: SplitMix,
    /// What happened, for a failing seed's story.
    pub story: Vec<String>,
}

impl Walk {
    #[must_use]
    pub fn new(seed: u64, profile: Profile) -> Self {
        let mut rng = SplitMix::new(seed);
        let cluster = setup::cluster(&mut rng, profile);
        Self { cluster, profile, seed, step: 0, rng, story: Vec::new() }
    }

    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.cluster.snapshot
    }

    /// One random thing happens. Each step draws anew from seed and step, so that a story can be told
    /// without some of its steps.
    pub fn happen(&mut self) {
        self.skip();
        self.rng = SplitMix::new(self.seed ^ u64::from(self.step).wrapping_mul(0xA24B_AED4_963E_E407));
        let event = events::happen(self);
        self.story.push(event);
    }

    /// A step in which nothing happens.
    pub const fn skip(&mut self) {
        self.step += 1;
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
