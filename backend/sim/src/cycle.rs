//! How long a planning cycle takes, phase by phase, and what memory it needs.
//!
//! Times are of the calling thread's processor where Linux tells it, so that a busy machine counts for
//! little. This module judges nothing: whoever prints the figures sets the targets.

use crate::cluster::{Case, Size, generate};
use reeve_core::schedule::plan::Plan;
use reeve_core::schedule::{Phase, plan_watched};
use std::hint::black_box;
use std::time::Instant;

/// One case at one size.
#[derive(Debug, Clone)]
pub struct Cycle {
    pub size: Size,
    pub case: Case,
    /// Median milliseconds by the clock on the wall.
    pub wall_ms: f64,
    /// Mean milliseconds of processor time, in all and by phase. Linux counts it in steps of some milliseconds: where a
    /// cycle is shorter, only the mean of many rounds says something.
    pub cpu_ms: f64,
    pub phases: Vec<(Phase, f64)>,
    /// Most memory while planning above what the state itself needs; `None` where it cannot be read.
    pub planning_mib: Option<f64>,
    pub starts: usize,
    pub reclaims: usize,
    pub waiting: usize,
}

/// Plans `rounds` times (at least once) on the same state.
#[must_use]
pub fn measure(size: Size, case: Case, seed: u64, rounds: usize) -> Cycle {
    let snapshot = generate(size, case, seed);
    let before = memory_mib("VmRSS:").filter(|_| forget_peak());
    let mut timed: Vec<Timed> = Vec::new();
    let mut last = Plan::default();
    for _ in 0..rounds.max(1) {
        drop(std::mem::take(&mut last));
        let mut watch = Watch::start();
        last = plan_watched(black_box(&snapshot), |phase| watch.lap(phase));
        timed.push(watch.stop());
    }
    let peak = memory_mib("VmHWM:");
    timed.sort_by(|left, right| left.wall_ms.total_cmp(&right.wall_ms));
    let mean = |of: &dyn Fn(&Timed) -> f64| timed.iter().map(of).sum::<f64>() / timed.len().max(1) as f64;
    let phases = timed[0].phases.iter().enumerate();
    let phases = phases.map(|(at, (phase, _))| (*phase, mean(&|timed| timed.phases[at].1))).collect();
    Cycle {
        size,
        case,
        wall_ms: timed[timed.len() / 2].wall_ms,
        cpu_ms: mean(&|timed| timed.cpu_ms),
        phases,
        planning_mib: before.zip(peak).map(|(before, peak)| (peak - before).max(0.0)),
        starts: last.starts.len(),
        reclaims: last.reclaims.len(),
        waiting: last.waiting.len(),
    }
}

/// How a time grows with the number of pending jobs: ln(time ratio) / ln(job ratio).
#[must_use]
pub fn growth_exponent(small: &Cycle, large: &Cycle) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "counts of jobs are far below 2^52")]
    let jobs = large.size.pending as f64 / small.size.pending as f64;
    (large.cpu_ms / small.cpu_ms).ln() / jobs.ln()
}

struct Timed {
    wall_ms: f64,
    cpu_ms: f64,
    phases: Vec<(Phase, f64)>,
}

struct Watch {
    wall: Instant,
    cpu_ms: f64,
    lap_ms: f64,
    phases: Vec<(Phase, f64)>,
}

impl Watch {
    fn start() -> Self {
        let now = cpu_ms().unwrap_or(0.0);
        Self { wall: Instant::now(), cpu_ms: now, lap_ms: now, phases: Vec::new() }
    }

    fn now_ms(&self) -> f64 {
        cpu_ms().unwrap_or_else(|| self.wall.elapsed().as_secs_f64() * 1000.0)
    }

    fn lap(&mut self, phase: Phase) {
        let now = self.now_ms();
        self.phases.push((phase, now - self.lap_ms));
        self.lap_ms = now;
    }

    fn stop(self) -> Timed {
        let wall_ms = self.wall.elapsed().as_secs_f64() * 1000.0;
        Timed { wall_ms, cpu_ms: self.now_ms() - self.cpu_ms, phases: self.phases }
    }
}

/// Processor time of this thread: Linux counts it in nanoseconds.
fn cpu_ms() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanos / 1e6)
}

/// Forgets the process's peak of memory, so that the next reading is of what follows.
fn forget_peak() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

fn memory_mib(name: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: f64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_is_timed_once() {
        let size = Size { name: "tiny", nodes: 4, teams: 2, pending: 8, running: 8 };
        let cycle = measure(size, Case::NoneFit, 1, 3);
        let phases: Vec<Phase> = cycle.phases.iter().map(|(phase, _)| *phase).collect();
        let all = [
            Phase::Reduce,
            Phase::Promises,
            Phase::Drains,
            Phase::Serve,
            Phase::Grow,
            Phase::Explain,
            Phase::Account,
        ];
        assert_eq!(phases, all);
        assert_eq!((cycle.starts, cycle.reclaims, cycle.waiting), (0, 0, 8));
    }
}
