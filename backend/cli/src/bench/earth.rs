//! Section C: what lending gives, on the demand of the Helios Earth cluster in May 2020.
//!
//! The curve is SenseTime's, by minute and tenant (`https://github.com/S-Lab-System-Group/HeliosData`, summed up).
//! Waiting is demand less use, so it splits exactly into what no scheduler could serve (demand above capacity) and
//! GPUs that were idle beside a waiting job; the second simulation, without grace and minimum run time, says how much
//! of that those two explain.

use super::report::{Report, Target};
use super::timing::Stopwatch;
use reeve_core::policy::Policy;
use reeve_sim::demand::{self, Demand};
use reeve_sim::engine::{Options, simulate};
use reeve_sim::figures::Figures;
use reeve_sim::setup;
use reeve_sim::workload::Workload;
use std::path::Path;

const FILE: &str = "helios-earth/tenant_minutes_2020_05.csv.gz";
const NODE_GPUS: u32 = 8;

/// # Errors
/// When the data is there and cannot be read.
pub(super) fn measure(report: &mut Report, data: &Path) -> anyhow::Result<()> {
    let path = data.join(FILE);
    if !path.exists() {
        println!("bench C skipped: {} is missing; give the folder by --data DIR", path.display());
        return Ok(());
    }
    let demand = demand::read(&path)?;
    let fluid = demand.fluid();
    let (workload, cut) = demand.jobs();
    as_it_ran(report, &demand);
    report.add("fluid_ceiling", "waiting_gpus", fluid.waiting_gpus, Target::None);
    report.add("fluid_ceiling", "allocated_percent", fluid.allocated_percent, Target::None);
    report.add("fluid_ceiling", "recalled_gpus_a_day", fluid.recalled_gpus_a_day, Target::None);
    report.add("jobs", "cut_from_the_curve", workload.tasks.len() as f64, Target::None);
    report.add("jobs", "of_8_gpus_cut_smaller", cut as f64, Target::None);
    let gentle = one(report, "reeve", &demand, &workload, Policy::default())?;
    let mut at_once = Policy::default();
    for rules in at_once.kinds.values_mut() {
        (rules.grace_secs, rules.min_runtime_secs) = (0, 0);
    }
    let hard = one(report, "reeve_recalling_at_once", &demand, &workload, at_once)?;
    // The published ceiling is twice allowed for gangs that nodes cannot hold and for gentleness together.
    let target = Target::AtMost(2.0 * fluid.waiting_gpus);
    report.add("reeve", "waiting_gpus", gentle.mean_waiting_gpus, target);
    let gentleness = gentle.mean_waiting_gpus - hard.mean_waiting_gpus;
    println!(
        "bench C arithmetic: {:.3} GPUs waiting = {:.3} demand above capacity + {:.3} idle beside whole jobs on whole \
         nodes + {:.3} grace and minimum run time",
        gentle.mean_waiting_gpus,
        fluid.waiting_gpus,
        hard.mean_waiting_gpus - fluid.waiting_gpus,
        gentleness
    );
    Ok(())
}

/// With static quotas, from the trace itself.
fn as_it_ran(report: &mut Report, demand: &Demand) {
    let sum = |rows: &[Vec<u32>]| rows.iter().flatten().map(|&gpus| f64::from(gpus)).sum::<f64>();
    let (asked, waited) = (sum(&demand.gpus), sum(&demand.waited));
    let minutes = demand.minutes().max(1) as f64;
    report.add("static_quotas_as_it_ran", "waiting_gpus", waited / minutes, Target::None);
    let allocated = 100.0 * (asked - waited) / minutes / f64::from(demand.capacity_gpus().max(1));
    report.add("static_quotas_as_it_ran", "allocated_percent", allocated, Target::None);
}

fn one(
    report: &mut Report,
    case: &str,
    demand: &Demand,
    workload: &Workload,
    policy: Policy,
) -> anyhow::Result<Figures> {
    let cluster = setup::of_tenants(&demand.tenants, demand.capacity_gpus() / NODE_GPUS, NODE_GPUS, policy);
    let watch = Stopwatch::start();
    let outcome = simulate(&cluster, workload, &Options::default(), |_| {})?;
    let times = watch.stop();
    let figures = Figures::of(&cluster, workload, &outcome);
    let evicted: u32 =
        workload.tasks.iter().zip(&outcome.runs).map(|(task, run)| task.gpus * run.evictions).sum();
    let days = demand.minutes().max(1) as f64 / 1_440.0;
    let total = &figures.total;
    report.add(case, "waiting_gpu_minutes", figures.mean_waiting_gpus * days * 1_440.0, Target::None);
    report.add(case, "allocated_percent", figures.allocated_percent, Target::None);
    report.add(case, "recalled_gpus_a_day", f64::from(evicted) / days, Target::None);
    report.add(case, "evictions", total.evictions.values().sum::<u64>() as f64, Target::None);
    report.add(case, "work_lost_gpu_hours", total.work_lost_gpu_hours, Target::None);
    report.add(case, "borrowed_gpu_hours", total.borrowed_gpu_hours, Target::None);
    for (reason, gpus) in &figures.mean_waiting_gpus_by_reason {
        report.add(case, format!("waiting_gpus_{reason}"), *gpus, Target::None);
    }
    report.add(case, "owner_denied_minutes", total.denied_minutes, Target::AtMost(0.0));
    report.add(case, "longest_owed_wait_secs", figures.longest_owed_wait_secs, Target::None);
    report.add(case, "wall_secs", times.wall_secs, Target::None);
    report.add(case, "cpu_secs", times.cpu_secs, Target::None);
    Ok(figures)
}
