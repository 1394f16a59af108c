//! Section P: random states, each planned, judged and carried out. A violation is printed with its seed.

use super::report::{Report, Target};
use indicatif::{ProgressBar, ProgressStyle};
use reeve_core::scenario::random::{Profile, judge_walk};
use reeve_core::schedule::plan;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const STEPS: u32 = 50;

pub(super) fn measure(report: &mut Report, states: u64) {
    let walks = states.div_ceil(u64::from(STEPS));
    let bar = ProgressBar::new(walks * u64::from(STEPS));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} states, {eta} left") {
        bar.set_style(style);
    }
    let (next, violations) = (AtomicU64::new(0), AtomicU64::new(0));
    let start = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= walks {
                        return;
                    }
                    let profile = if seed.is_multiple_of(2) { Profile::Mixed } else { Profile::Plain };
                    if let Err(failure) = judge_walk(seed, STEPS, profile, plan) {
                        violations.fetch_add(1, Ordering::Relaxed);
                        bar.suspend(|| println!("{profile:?}: {failure}"));
                    }
                    bar.inc(u64::from(STEPS));
                }
            });
        }
    });
    bar.finish_and_clear();
    let count = (walks * u64::from(STEPS)) as f64;
    report.add("random_walks", "states", count, Target::AtLeast(1_000_000.0));
    report.add("random_walks", "violations", violations.load(Ordering::Relaxed) as f64, Target::Below(1.0));
    report.add("random_walks", "states_per_second", count / start.elapsed().as_secs_f64(), Target::None);
}
