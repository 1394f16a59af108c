//! Prints the times of one planning cycle, phase by phase: `cargo run --release -p reeve-sim --example cycle --
//! [S|M|L] [CASE] [ROUNDS]`; without arguments all cases at S and M, and at L where M took less than a second.

use reeve_sim::cluster::{Case, Size};
use reeve_sim::cycle::{Cycle, growth_exponent, measure};

const SEED: u64 = 42;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let size = arguments.next();
    let case = arguments.next();
    let rounds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(3);
    let sizes = [Size::SMALL, Size::MEDIUM, Size::LARGE];
    for case in Case::ALL.into_iter().filter(|found| case.as_ref().is_none_or(|name| found.name() == name)) {
        let mut smallest: Option<Cycle> = None;
        let mut last_ms = 0.0;
        for size in sizes.iter().filter(|found| size.as_ref().is_none_or(|name| found.name == name)) {
            if last_ms > 10_000.0 {
                println!("{} {}: skipped, the smaller took {last_ms:.0} ms", size.name, case.name());
                continue;
            }
            let cycle = measure(*size, case, SEED, rounds);
            print(&cycle, smallest.as_ref());
            last_ms = cycle.cpu_ms;
            smallest.get_or_insert(cycle);
        }
    }
}

fn print(cycle: &Cycle, smallest: Option<&Cycle>) {
    let phases: Vec<String> =
        cycle.phases.iter().map(|(phase, ms)| format!("{phase:?} {ms:.1}").to_lowercase()).collect();
    let growth =
        smallest.map_or(String::new(), |small| format!("  growth {:.2}", growth_exponent(small, cycle)));
    let memory = cycle.planning_mib.map_or(String::new(), |mib| format!("  {mib:.0} MiB"));
    println!(
        "{} {:18} {:9.1} ms (wall {:.1}){memory}{growth}  starts {} reclaims {} waiting {}\n    {}",
        cycle.size.name,
        cycle.case.name(),
        cycle.cpu_ms,
        cycle.wall_ms,
        cycle.starts,
        cycle.reclaims,
        cycle.waiting,
        phases.join(", "),
    );
}
