//! Section D: real jobs of Microsoft's Philly trace, October and November 2017, on a quarter of the tenants' nodes.
//!
//! The trace is published at `https://github.com/msr-fiddle/philly-traces`. Beside our planner run the references
//! without loans that the target comes from; their published means are printed as targets, so that a difference in
//! protocol would show. Jobs submitted in the same second are served shortest first in all of them, as there.

use super::report::{Report, Target};
use super::timing::Stopwatch;
use anyhow::Context;
use reeve_core::policy::Policy;
use reeve_sim::engine::{Options, simulate};
use reeve_sim::figures::{Figures, mean_secs};
use reeve_sim::reference::{self, Order, Sharing, Waits};
use reeve_sim::setup::{self, Tenant};
use reeve_sim::trace::{self, Columns, Format};
use reeve_sim::workload::{Micros, SECOND, Workload};
use std::path::Path;

const NODE_GPUS: u32 = 8;
const QUOTA_DIVISOR: u32 = 4;
/// One pool with backfill waits this long on average; a fifth more is allowed for fairness.
const POOL_BACKFILL_SECS: f64 = 869.0;

/// # Errors
/// When the data is there and cannot be read.
pub(super) fn measure(report: &mut Report, data: &Path) -> anyhow::Result<()> {
    let folder = data.join("philly");
    let (jobs, nodes) = (folder.join("jobs.csv.gz"), folder.join("vc_nodes.csv"));
    if !jobs.exists() || !nodes.exists() {
        println!(
            "bench D skipped: {} or {} is missing; give the folder by --data DIR",
            jobs.display(),
            nodes.display()
        );
        return Ok(());
    }
    let nodes: Vec<(String, u32)> =
        trace::read_nodes(&nodes)?.into_iter().map(|(team, nodes)| (team, nodes / QUOTA_DIVISOR)).collect();
    let workload = load(&jobs, &nodes)?;
    report.add("jobs", "count", workload.tasks.len() as f64, Target::None);
    let alone = references(report, &workload, &nodes)?;
    ours(report, &workload, &nodes, &alone)
}

/// Two months of the tenants that have quota.
fn load(path: &Path, nodes: &[(String, u32)]) -> anyhow::Result<Workload> {
    let trace = trace::read(path, &Columns::of(Format::Philly))?;
    let mut workload = Workload::of(&trace)?;
    workload.retain_teams(|team| nodes.iter().any(|(name, _)| name == team));
    let at = |day: &str| -> anyhow::Result<Micros> {
        let at = trace::instant(day).context("a day")?;
        Ok(((at - trace.first_at_secs) * SECOND as f64) as Micros)
    };
    workload.retain_between(at("2017-10-01")?, at("2017-12-01")?);
    workload.tasks.sort_by_key(|task| (task.at, task.runs));
    Ok(workload)
}

/// The four references; returns each tenant's mean wait on its own nodes with backfill.
fn references(report: &mut Report, workload: &Workload, nodes: &[(String, u32)]) -> anyhow::Result<Vec<f64>> {
    let own: Vec<u32> = workload
        .teams
        .iter()
        .map(|team| nodes.iter().find(|(name, _)| name == team).map(|(_, nodes)| *nodes))
        .collect::<Option<_>>()
        .context("a tenant without nodes")?;
    let mut alone = Vec::new();
    for (case, sharing, order, published) in [
        ("reference_static_fifo", Sharing::Alone, Order::Fifo, 177_007.0),
        ("reference_static_backfill", Sharing::Alone, Order::Backfill, 56_719.0),
        ("reference_one_pool_fifo", Sharing::OnePool, Order::Fifo, 4_164.0),
        ("reference_one_pool_backfill", Sharing::OnePool, Order::Backfill, POOL_BACKFILL_SECS),
    ] {
        let waits = reference::waits(workload, &own, NODE_GPUS, sharing, order);
        let mean = mean_secs(&waits.iter().flatten().copied().collect::<Vec<_>>());
        report.add(case, "mean_wait_secs", mean, Target::None);
        report.add(case, "published_mean_wait_secs", published, Target::None);
        let by_team = by_team(workload, &waits);
        if order == Order::Backfill && sharing == Sharing::Alone {
            alone = by_team;
        } else if order == Order::Backfill {
            let worse = by_team.iter().zip(&alone).filter(|(pool, alone)| pool > alone).count();
            report.add(case, "tenants_worse_than_alone", worse as f64, Target::None);
        }
    }
    Ok(alone)
}

fn by_team(workload: &Workload, waits: &Waits) -> Vec<f64> {
    let of = |team: usize| -> Vec<Micros> {
        let own = workload.tasks.iter().zip(waits).filter(|(task, _)| task.team == team);
        own.filter_map(|(_, wait)| *wait).collect()
    };
    (0..workload.teams.len()).map(|team| mean_secs(&of(team))).collect()
}

fn ours(
    report: &mut Report,
    workload: &Workload,
    nodes: &[(String, u32)],
    alone: &[f64],
) -> anyhow::Result<()> {
    let tenants: Vec<Tenant> = nodes
        .iter()
        .map(|(team, nodes)| Tenant { team: team.clone(), guaranteed_gpus: nodes * NODE_GPUS })
        .collect();
    let all = nodes.iter().map(|(_, nodes)| nodes).sum();
    let cluster = setup::of_tenants(&tenants, all, NODE_GPUS, Policy::default());
    let watch = Stopwatch::start();
    let outcome = simulate(&cluster, workload, &Options::default(), |_| {})?;
    let times = watch.stop();
    let figures = Figures::of(&cluster, workload, &outcome);
    let total = &figures.total;
    report.add("reeve", "mean_wait_secs", total.wait_mean_secs, Target::AtMost(1.2 * POOL_BACKFILL_SECS));
    // Evictions cost their victims time in line and, without a checkpoint, work: a delay holds all of it.
    report.add("reeve", "mean_delay_secs", total.delay_mean_secs, Target::AtMost(1.2 * POOL_BACKFILL_SECS));
    report.add("reeve", "allocated_percent", figures.allocated_percent, Target::None);
    report.add("reeve", "evictions", total.evictions.values().sum::<u64>() as f64, Target::None);
    report.add("reeve", "never_started", total.never_started as f64, Target::AtMost(0.0));
    report.add("reeve", "owner_denied_minutes", total.denied_minutes, Target::AtMost(0.0));
    let mut worse = 0;
    for (team, alone) in workload.teams.iter().zip(alone) {
        let delay = figures.teams.iter().find(|figures| figures.team == *team);
        let delay = delay.context("a tenant without figures")?.delay_mean_secs;
        worse += u32::from(delay > *alone);
        report.add(format!("reeve_{team}"), "mean_delay_secs", delay, Target::AtMost(*alone));
    }
    report.add("reeve", "tenants_worse_than_alone", f64::from(worse), Target::AtMost(0.0));
    report.add("reeve", "planning_passes", outcome.passes as f64, Target::None);
    report.add("reeve", "cpu_secs", times.cpu_secs, Target::AtMost(30.0));
    report.add("reeve", "wall_secs", times.wall_secs, Target::AtMost(30.0));
    Ok(())
}
