//! Section P: random states, each planned, judged and carried out. What breaks is printed by rule, with seeds
//! and the shortest story.

use super::report::{Report, Target};
use indicatif::{ProgressBar, ProgressStyle};
use reeve_core::schedule::plan;
use reeve_sim::walks::Walks;
use std::time::Instant;

const STEPS: u32 = 50;

pub(super) fn measure(report: &mut Report, states: u64) {
    let walks = Walks {
        seeds: 0..states.div_ceil(u64::from(STEPS)),
        steps: STEPS,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let bar = ProgressBar::new(walks.states());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} states, {eta} left") {
        bar.set_style(style);
    }
    let start = Instant::now();
    let broken = walks.search(plan, || bar.inc(u64::from(STEPS)));
    bar.finish_and_clear();
    for (rule, found) in &broken {
        println!("{rule}: {} walks, seeds {:?}\n{}", found.count, found.seeds, found.shortest);
    }
    let violations: u64 = broken.values().map(|found| found.count).sum();
    let count = walks.states() as f64;
    report.add("random_walks", "states", count, Target::AtLeast(1_000_000.0));
    report.add("random_walks", "violations", violations as f64, Target::Below(1.0));
    report.add("random_walks", "states_per_second", count / start.elapsed().as_secs_f64(), Target::None);
}
