//! Section I: idle reclaim on jobs of which it is known whether they are idle. Every job counts as taken at the moment in
//! which it may be taken: on a quiet pool nobody would come for it.

use super::report::{Report, Target};
use reeve_core::kind::Kind;
use reeve_sim::duty::{Duty, Outcome};
use std::collections::BTreeMap;

/// Not those on which the rule was chosen.
const SEEDS: std::ops::Range<u64> = 100..110;

pub(super) fn measure(report: &mut Report) {
    // With a heavier tail of pauses than published there is no promise: it shows how the rule fails.
    for (case, spread, promised) in [("as_published", 1.0, true), ("heavier_tail", 1.25, false)] {
        let mut sums: BTreeMap<Kind, Outcome> = BTreeMap::new();
        for seed in SEEDS {
            for (kind, outcome) in (Duty { jobs: 2_000, idle_permille: 150, spread, seed }).judged() {
                add(sums.entry(kind).or_default(), &outcome);
            }
        }
        for (kind, sum) in &sums {
            add_figures(report, &format!("{case} {kind}"), sum, promised);
        }
    }
}

fn add(sum: &mut Outcome, outcome: &Outcome) {
    sum.jobs += outcome.jobs;
    sum.long_pauses += outcome.long_pauses;
    sum.healthy_notified += outcome.healthy_notified;
    sum.healthy_taken += outcome.healthy_taken;
    sum.idle_minutes += outcome.idle_minutes;
    sum.found_minutes += outcome.found_minutes;
    sum.saved_minutes += outcome.saved_minutes;
}

fn add_figures(report: &mut Report, case: &str, sum: &Outcome, promised: bool) {
    let share = |part: u64| part as f64 * 100.0 / sum.idle_minutes.max(1) as f64;
    let (none, most) = match promised {
        true => (Target::AtMost(0.0), Target::AtLeast(95.0)),
        false => (Target::None, Target::None),
    };
    report.add(case, "jobs", sum.jobs as f64, Target::None);
    report.add(case, "pauses_over_an_hour", sum.long_pauses as f64, Target::None);
    report.add(case, "healthy_jobs_notified", sum.healthy_notified as f64, Target::None);
    report.add(case, "healthy_jobs_taken", sum.healthy_taken as f64, none);
    report.add(case, "idle_gpu_hours", sum.idle_minutes as f64 / 60.0, Target::None);
    report.add(case, "idle_gpu_hours_found_percent", share(sum.found_minutes), most);
    report.add(case, "idle_gpu_hours_after_the_notice_percent", share(sum.saved_minutes), Target::None);
}
