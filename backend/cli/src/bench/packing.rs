//! Section A: placement of the openb trace by the protocol of the FGD paper (ATC'23).
//!
//! The trace and the published figures come from `https://github.com/alibaba/clusterdata` (`cluster-trace-gpu-v2023`)
//! and `https://github.com/hkust-adsl/kubernetes-scheduler-simulator`. First the protocol is checked: the authors'
//! `BestFit` must give their figure for every seed. Then the product places the same arrivals, under the published tie
//! order and under one of our own; the same algorithm and weights for all workloads.

use super::report::{Report, Target};
use super::timing::Stopwatch;
use reeve_sim::packing::data::{
    Cluster, Published, SEEDS, Workload, read_nodes, read_published, read_workload,
};
use reeve_sim::packing::replay::{Outcome, Product, best_fit};
use reeve_sim::packing::ties::{Cooked, own, published};
use std::path::Path;

const WORKLOADS: [&str; 5] = ["default", "gpuspec33", "gpushare100", "cpu250", "multigpu50"];
/// Our own orders among equals are drawn from here on, one a seed; tuning used others.
const OWN_TIES: u64 = 20_260_000;

/// # Errors
/// When the data is there and cannot be read.
pub(super) fn measure(report: &mut Report, data: &Path) -> anyhow::Result<()> {
    let folder = data.join("openb");
    let nodes = folder.join("nodes.csv");
    if !nodes.exists() {
        println!("bench A skipped: {} is missing; give the folder by --data DIR", nodes.display());
        return Ok(());
    }
    let cluster = read_nodes(&folder)?;
    let figures = read_published(&folder)?;
    let cooked = Cooked::new();
    let mut spent = Spent::default();
    for name in WORKLOADS {
        let workload = read_workload(&folder, name, &cluster)?;
        let one = one(report, &cluster, &workload, &figures, &cooked)?;
        one.add_to(report, name);
        spent.decisions += one.decisions;
        spent.cpu_secs += one.cpu_secs;
        spent.wall_secs += one.wall_secs;
    }
    spent.add_to(report, "all");
    Ok(())
}

/// What the product's decisions took, cold caches included.
#[derive(Debug, Default)]
struct Spent {
    decisions: f64,
    cpu_secs: f64,
    wall_secs: f64,
}

impl Spent {
    fn during(&mut self, run: impl FnOnce() -> Outcome) -> Outcome {
        let watch = Stopwatch::start();
        let outcome = run();
        let times = watch.stop();
        self.decisions += f64::from(outcome.decisions);
        self.cpu_secs += times.cpu_secs;
        self.wall_secs += times.wall_secs;
        outcome
    }

    fn add_to(&self, report: &mut Report, case: &str) {
        let each_core = self.decisions / self.cpu_secs;
        report.add(case, "decisions_per_core_second", each_core, Target::AtLeast(100_000.0));
        report.add(case, "decisions_per_wall_second", self.decisions / self.wall_secs, Target::None);
    }
}

/// One workload; returns what the product's runs took.
fn one(
    report: &mut Report,
    cluster: &Cluster,
    workload: &Workload,
    figures: &Published,
    cooked: &Cooked,
) -> anyhow::Result<Spent> {
    let name = workload.name;
    let mut spent = Spent::default();
    let mut product = Product::new(cluster, workload);
    let (mut unlike, mut redrawn) = (0, 0);
    let (mut fgd, mut ours, mut own_ties) = (Vec::new(), Vec::new(), Vec::new());
    for seed in SEEDS {
        let figure = |policy: &str| {
            let known = figures.get(&(name.to_owned(), policy.to_owned(), seed)).copied();
            known.ok_or_else(|| anyhow::anyhow!("no figure of {policy} for {name}, seed {seed}"))
        };
        let (arrivals, ties) = published(cooked, workload, cluster.gpu_milli(), cluster.nodes.len(), seed);
        let given = workload.arrivals.get(&seed);
        redrawn += u32::from(given == Some(&arrivals));
        let given = given.ok_or_else(|| anyhow::anyhow!("no arrivals of {name}, seed {seed}"))?;
        let reference = best_fit(cluster, workload, given, &ties).allocated_at_100;
        // Published to two places.
        unlike += u32::from((reference - figure("BestFit")?).abs() > 0.005 + 1e-9);
        fgd.push(100.0 - figure("FGD")?);
        ours.push(spent.during(|| product.replay(cluster, workload, given, &ties)));
        let ties = own(cluster.nodes.len(), OWN_TIES + u64::from(seed));
        own_ties.push(spent.during(|| product.replay(cluster, workload, given, &ties)));
    }
    report.add(name, "arrivals_redrawn_of_10", f64::from(redrawn), Target::AtLeast(10.0));
    report.add(name, "gate_best_fit_seeds_unlike_published", f64::from(unlike), Target::AtMost(0.0));
    spread(report, name, "published_ties", &ours, &fgd);
    spread(report, name, "own_ties", &own_ties, &fgd);
    Ok(spent)
}

/// Unallocated percent at 100 % arrival: beside FGD's published mean, and paired by seed.
fn spread(report: &mut Report, name: &str, ties: &str, ours: &[Outcome], fgd: &[f64]) {
    let unallocated: Vec<f64> = ours.iter().map(|outcome| 100.0 - outcome.allocated_at_100).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let paired: Vec<f64> = unallocated.iter().zip(fgd).map(|(ours, fgd)| ours - fgd).collect();
    let metric = |what: &str| format!("unallocated_percent_{what}_{ties}");
    // Published to two places each, so their mean has three.
    let published = (mean(fgd) * 1_000.0).round() / 1_000.0;
    report.add(name, metric("mean"), mean(&unallocated), Target::Below(published));
    report.add(name, metric("min"), least(&unallocated), Target::None);
    report.add(name, metric("max"), most(&unallocated), Target::None);
    report.add(name, metric("minus_fgd_mean"), mean(&paired), Target::Below(0.0));
    report.add(name, metric("minus_fgd_worst_seed"), most(&paired), Target::Below(0.0));
}
