//! A made-up workload for a cluster of a given size: what a month of several teams looks like when there is no trace.
//!
//! The shape follows what published traces have in common: most jobs ask for one GPU and most GPU time goes to the
//! few large ones, run times spread over orders of magnitude (log-normal), days are busier than nights, and teams
//! differ in demand far more than in guarantee. The same parameters and seed give the same workload for ever; nothing
//! here knows how the planner decides.

use crate::setup::Tenant;
use crate::workload::{Micros, SECOND, Task, Workload};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use reeve_core::kind::Kind;

const DAY_SECS: f64 = 86_400.0;

/// Jobs of these sizes, by weight. Sizes beyond a sixteenth of the cluster are left out.
const SIZES: [(u32, u32); 8] = [(1, 700), (2, 90), (4, 90), (8, 80), (16, 25), (32, 10), (64, 4), (128, 1)];

const KINDS: [(Kind, u32); 4] =
    [(Kind::Training, 55), (Kind::Experiment, 25), (Kind::Batch, 12), (Kind::Evaluation, 8)];

/// What to make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    pub nodes: u32,
    pub node_gpus: u32,
    pub teams: u32,
    pub jobs: u32,
    pub days: f64,
    /// GPU time asked for, as a part of the cluster's over these days.
    pub load: f64,
    pub seed: u64,
}

impl Parameters {
    /// The sizes that the benchmarks name: nodes and teams of S, M or L, and a week.
    #[must_use]
    pub fn named(size: crate::cluster::Size) -> Self {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            nodes: count(size.nodes),
            node_gpus: 8,
            teams: count(size.teams),
            jobs: (count(size.nodes) * 50).clamp(10_000, 100_000),
            days: 7.0,
            load: 0.8,
            seed: 1,
        }
    }

    /// An even guarantee for every team; what does not divide is nobody's.
    #[must_use]
    pub fn tenants(&self) -> Vec<Tenant> {
        let each = self.nodes * self.node_gpus / self.teams.max(1);
        (1..=self.teams)
            .map(|number| Tenant { team: format!("team-{number}"), guaranteed_gpus: each })
            .collect()
    }

    /// The jobs, earliest first.
    #[must_use]
    pub fn workload(&self) -> Workload {
        let mut random = StdRng::seed_from_u64(self.seed);
        let teams = self.teams.max(1);
        let shares: Vec<f64> = (0..teams).map(|_| normal(&mut random).exp()).collect();
        let total: f64 = shares.iter().sum();
        let largest = (self.nodes * self.node_gpus / 16).max(1);
        let sizes: Vec<(u32, u32)> = SIZES.into_iter().filter(|&(size, _)| size <= largest).collect();
        let mut drafts: Vec<Task> = (0..self.jobs)
            .map(|_| {
                let gpus = pick(&mut random, &sizes).unwrap_or(1);
                let team = pick_share(&mut random, &shares, total);
                let kind = pick(&mut random, &KINDS).unwrap_or(Kind::Batch);
                let at = moment(&mut random, self.days);
                // Half an hour in the middle; one in twenty a day and more.
                let runs = (1_800.0_f64.ln() + 2.0 * normal(&mut random)).exp();
                task(team, at, runs, gpus, kind)
            })
            .collect();
        drafts.sort_by_key(|task| task.at);
        self.scale(&mut drafts);
        for (number, task) in drafts.iter_mut().enumerate() {
            task.name = format!("job-{}", number + 1);
        }
        Workload { teams: (1..=teams).map(|number| format!("team-{number}")).collect(), tasks: drafts }
    }

    /// Stretches run times so that the load comes out as asked; none is longer than half of these days. What is cut
    /// off there the others get, in a few rounds.
    #[expect(clippy::cast_possible_truncation, reason = "bounded by half of the days")]
    fn scale(&self, tasks: &mut [Task]) {
        let all = self.days * DAY_SECS * SECOND as f64;
        let wanted = f64::from(self.nodes * self.node_gpus) * all * self.load;
        for _ in 0..10 {
            let asked: f64 = tasks.iter().map(|task| task.runs as f64 * f64::from(task.gpus)).sum();
            for task in tasks.iter_mut() {
                let runs = (task.runs as f64 * wanted / asked.max(1.0)).min(all / 2.0);
                task.runs = (runs as Micros).max(SECOND);
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "bounded by the caller")]
fn task(team: usize, at_secs: f64, runs_secs: f64, gpus: u32, kind: Kind) -> Task {
    let micros = |secs: f64| (secs * SECOND as f64) as Micros;
    Task {
        name: String::new(),
        team,
        at: micros(at_secs),
        runs: micros(runs_secs.clamp(1.0, 60.0 * DAY_SECS)),
        until: None,
        gpus,
        milli: None,
        kind: Some(kind),
        priority: None,
    }
}

/// Seconds into the workload; three in the afternoon is four times as busy as three at night.
fn moment(random: &mut StdRng, days: f64) -> f64 {
    loop {
        let at = random.random_range(0.0..days.max(0.01) * DAY_SECS);
        let hour = at % DAY_SECS / 3_600.0;
        let busy = 0.625 - 0.375 * ((hour - 3.0) / 24.0 * std::f64::consts::TAU).cos();
        if random.random_range(0.0..1.0) < busy {
            return at;
        }
    }
}

/// Standard normal (Box and Muller, 1958).
pub(crate) fn normal(random: &mut StdRng) -> f64 {
    let (left, right) = (random.random_range(f64::MIN_POSITIVE..1.0), random.random_range(0.0..1.0));
    (-2.0 * f64::ln(left)).sqrt() * f64::cos(std::f64::consts::TAU * right)
}

/// One of the values, by weight; the first value if all weigh nothing.
fn pick<T: Copy>(random: &mut StdRng, from: &[(T, u32)]) -> Option<T> {
    let total: u32 = from.iter().map(|(_, weight)| weight).sum();
    let mut drawn = random.random_range(0..total.max(1));
    for &(value, weight) in from {
        if drawn < weight {
            return Some(value);
        }
        drawn -= weight;
    }
    from.first().map(|&(value, _)| value)
}

fn pick_share(random: &mut StdRng, shares: &[f64], total: f64) -> usize {
    let mut drawn = random.random_range(0.0..total);
    for (at, share) in shares.iter().enumerate() {
        if drawn < *share {
            return at;
        }
        drawn -= share;
    }
    shares.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_is_as_asked_and_the_same_for_the_same_seed() {
        let asked =
            Parameters { nodes: 10, node_gpus: 8, teams: 4, jobs: 2_000, days: 3.0, load: 0.7, seed: 5 };
        let workload = asked.workload();
        assert_eq!(workload, asked.workload());
        assert_ne!(workload, Parameters { seed: 6, ..asked }.workload());
        assert_eq!((workload.tasks.len(), workload.teams.len()), (2_000, 4));
        let work: f64 = workload.tasks.iter().map(|task| task.runs as f64 * f64::from(task.gpus)).sum();
        let load = work / SECOND as f64 / (80.0 * 3.0 * DAY_SECS);
        assert!((load - 0.7).abs() < 0.01, "{load}");
        assert!(workload.tasks.iter().all(|task| task.gpus <= 5), "no job beyond a sixteenth of the cluster");
        assert!(workload.tasks.windows(2).all(|pair| pair[0].at <= pair[1].at));
    }
}
