//! One walk, judged at each step; and its shortest story once it has failed.
//!
//! A trial knows no rule: the judge and [`super::properties`] do.

use super::properties::{self, Finding};
use super::{Profile, Walk};
use crate::schedule::check::Violation;
use crate::schedule::plan::Plan;
use crate::schedule::snapshot::Snapshot;
use std::collections::BTreeSet;

/// A walk to take.
#[derive(Debug, Clone)]
pub struct Trial {
    pub seed: u64,
    pub steps: u32,
    pub profile: Profile,
    /// Steps in which nothing happens.
    pub skipped: BTreeSet<u32>,
}

/// What was found, and how the walk came there.
#[derive(Debug, Clone)]
pub struct Failure {
    pub trial: Trial,
    pub step: u32,
    pub violations: Vec<Violation>,
    pub story: Vec<String>,
    /// The state for which the plan was made.
    pub state: Snapshot,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Trial { seed, profile, skipped, .. } = &self.trial;
        write!(f, "{profile:?} seed {seed} step {} ({} steps left out)", self.step, skipped.len())?;
        self.violations.iter().try_for_each(|violation| write!(f, "\n  {violation}"))?;
        self.story.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

impl Failure {
    /// The rule that was broken first.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        self.violations.first().map_or("nothing", |violation| violation.rule)
    }
}

impl Trial {
    #[must_use]
    pub const fn new(seed: u64, steps: u32, profile: Profile) -> Self {
        Self { seed, steps, profile, skipped: BTreeSet::new() }
    }

    /// Takes the walk: each state is planned, judged, carried out and looked at.
    ///
    /// # Errors
    /// The first violation and its story.
    pub fn run(&self, planner: impl Fn(&Snapshot) -> Plan) -> Result<(), Box<Failure>> {
        let mut walk = Walk::new(self.seed, self.profile);
        for step in 1..=self.steps {
            if self.skipped.contains(&step) {
                walk.skip();
                continue;
            }
            walk.happen();
            let state = walk.snapshot().clone();
            let plan = match walk.plan(&planner) {
                Ok(plan) => plan,
                Err(violations) => return Err(self.failure(step, violations, walk.story, state)),
            };
            properties::keep(&walk, &state, &plan, &planner)
                .map_err(|found| self.found(step, &walk, *found))?;
        }
        if properties::is_frozen_at_the_end(self.seed) {
            properties::end(&walk, &planner).map_err(|found| self.found(self.steps, &walk, *found))?;
        }
        Ok(())
    }

    fn found(&self, step: u32, walk: &Walk, found: Finding) -> Box<Failure> {
        let story = found.story.unwrap_or_else(|| walk.story.clone());
        self.failure(step, found.violations, story, found.state)
    }

    fn failure(
        &self,
        step: u32,
        violations: Vec<Violation>,
        story: Vec<String>,
        state: Snapshot,
    ) -> Box<Failure> {
        Box::new(Failure { trial: self.clone(), step, violations, story, state })
    }
}

impl Failure {
    /// The same rule broken by a shorter story: steps are left out, many at once and then one by one,
    /// while it still fails.
    #[must_use]
    pub fn shrunk(self: Box<Self>, planner: impl Fn(&Snapshot) -> Plan) -> Box<Self> {
        let mut best = self;
        let rule = best.rule();
        let mut size = (best.step / 2).max(1);
        loop {
            let mut from = 1;
            while from <= best.step {
                let mut trial = best.trial.clone();
                trial.steps = best.step;
                let before = trial.skipped.len();
                trial.skipped.extend(from..(from + size).min(best.step));
                if trial.skipped.len() > before
                    && let Err(failure) = trial.run(&planner)
                    && failure.rule() == rule
                {
                    best = failure;
                }
                from += size;
            }
            if size == 1 {
                return best;
            }
            size = size.div_ceil(2).min(size - 1);
        }
    }
}

/// Walks `steps` states from a seed.
///
/// # Errors
/// The first violation and its story.
pub fn judge_walk(
    seed: u64,
    steps: u32,
    profile: Profile,
    planner: impl Fn(&Snapshot) -> Plan,
) -> Result<(), Box<Failure>> {
    Trial::new(seed, steps, profile).run(planner)
}
