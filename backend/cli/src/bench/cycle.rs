//! Section E: how long one planning cycle takes, phase by phase, and how that grows.

use super::report::{Report, Target};
use reeve_sim::cluster::{Case, Size};
use reeve_sim::cycle::{Cycle, growth_exponent, measure as cycle};

const SEED: u64 = 42;

/// All cases at S, M and L. The growth exponent is that of processor time over the number of pending jobs.
pub(super) fn measure(report: &mut Report) {
    for case in Case::ALL {
        let small = add(report, cycle(Size::SMALL, case, SEED, 15));
        add(report, cycle(Size::MEDIUM, case, SEED, 5));
        let large = add(report, cycle(Size::LARGE, case, SEED, 3));
        let exponent = growth_exponent(&small, &large);
        report.add(format!("S_to_L_{}", case.name()), "growth_exponent", exponent, Target::AtMost(1.1));
    }
}

fn add(report: &mut Report, cycle: Cycle) -> Cycle {
    let case = format!("{}_{}", cycle.size.name, cycle.case.name());
    // The targets are those of the largest size; they must hold below it all the more.
    let target = match cycle.case {
        Case::OneNeverFits | Case::OneReclaims => 50.0,
        Case::AllFit | Case::NoneFit | Case::ReclaimNeeded | Case::OneLender | Case::FragmentedGangs => 500.0,
    };
    report.add(&case, "cycle_ms_p50", cycle.wall_ms, Target::Below(target));
    report.add(&case, "cycle_cpu_ms", cycle.cpu_ms, Target::None);
    if let Some(mib) = cycle.planning_mib {
        report.add(&case, "planning_memory_mib", mib, Target::None);
    }
    if cycle.size == Size::LARGE {
        for (phase, ms) in &cycle.phases {
            report.add(&case, format!("{phase:?}_cpu_ms").to_lowercase(), *ms, Target::None);
        }
    }
    cycle
}
