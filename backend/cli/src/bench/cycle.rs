//! Section E: how long one planning cycle takes, and how that grows.

use super::report::{Report, Target, percentile};
use reeve_core::schedule::plan;
use reeve_sim::cluster::{Case, Size, generate};
use std::hint::black_box;
use std::time::Instant;

const SEED: u64 = 42;

/// All cases at S and M; the exponent between the two is ln(time ratio) / ln(job ratio).
pub(super) fn measure(report: &mut Report) {
    for case in Case::ALL {
        let small = time(report, Size::SMALL, case);
        let medium = time(report, Size::MEDIUM, case);
        let exponent = (medium / small).ln() / 10_f64.ln();
        report.add(format!("S_to_M_{}", case.name()), "growth_exponent", exponent, Target::Below(1.1));
    }
    // Linux counts the peak in KiB; it covers the largest snapshot and its plan.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    report.add("M", "peak_memory_mib", peak.unwrap_or(0.0) / 1024.0, Target::None);
}

/// Median milliseconds of one `plan()`.
fn time(report: &mut Report, size: Size, case: Case) -> f64 {
    let snapshot = generate(size, case, SEED);
    let rounds = if size == Size::SMALL { 15 } else { 5 };
    let times: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            black_box(plan(black_box(&snapshot)));
            start.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    let median = percentile(&times, 50);
    // The targets are those of the largest size; they must hold here all the more.
    let target = match case {
        Case::OneNeverFits | Case::OneReclaims => 50.0,
        Case::AllFit | Case::NoneFit | Case::ReclaimNeeded => 500.0,
    };
    report.add(format!("{}_{}", size.name, case.name()), "cycle_ms_p50", median, Target::Below(target));
    median
}
