//! The workload that was asked for, and the tenants that come with it.

use super::args::SimulateArgs;
use anyhow::{Context, ensure};
use reeve_sim::cluster::Size;
use reeve_sim::demand;
use reeve_sim::generate::Parameters;
use reeve_sim::setup::Tenant;
use reeve_sim::trace::{self, Columns};
use reeve_sim::workload::{Micros, SECOND, Workload};
use std::path::Path;

/// Everything that does not depend on the policy.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) workload: Workload,
    /// Whom a policy without teams serves.
    pub(super) tenants: Vec<Tenant>,
    /// The cluster of a policy without nodes.
    pub(super) nodes: u32,
    /// What was run, in a sentence.
    pub(super) told: String,
}

pub(super) fn read(args: &SimulateArgs) -> anyhow::Result<Work> {
    let mut work = match (&args.file, &args.generate) {
        (Some(file), _) if args.demand => from_demand(args, file)?,
        (Some(file), _) => from_trace(args, file)?,
        (None, Some(size)) => generated(args, size),
        (None, None) => anyhow::bail!("a workload is wanted: a FILE, or --generate S"),
    };
    if let Some(limit) = args.limit {
        work.workload.tasks.truncate(limit);
    }
    ensure!(
        !work.workload.tasks.is_empty(),
        "no job is left to simulate: look at --from, --to and --teams-from"
    );
    let (jobs, teams) = (work.workload.tasks.len(), work.workload.teams.len());
    let days = work.workload.last_submission() as f64 / SECOND as f64 / 86_400.0;
    work.told = format!("{jobs} jobs of {teams} teams, submitted over {days:.1} days. {}", work.told);
    Ok(work)
}

fn from_trace(args: &SimulateArgs, file: &Path) -> anyhow::Result<Work> {
    let columns = Columns::of(args.format).with(&args.columns)?;
    let trace = trace::read(file, &columns)?;
    let mut workload = Workload::of(&trace).with_context(|| file.display().to_string())?;
    let tenants = match &args.teams_from {
        Some(path) => tenants(args, path)?,
        None => Vec::new(),
    };
    if args.teams_from.is_some() {
        workload.retain_teams(|team| tenants.iter().any(|tenant| tenant.team == team));
    }
    let at = |moment: Option<f64>, else_: Micros| {
        moment.map_or(else_, |moment| ((moment - trace.first_at_secs) * SECOND as f64) as Micros)
    };
    workload.retain_between(at(args.from, 0), at(args.to, Micros::MAX));
    let guaranteed: u32 = tenants.iter().map(|tenant| tenant.guaranteed_gpus).sum();
    Ok(Work {
        workload,
        tenants,
        nodes: args.nodes.unwrap_or(guaranteed / args.node_gpus),
        told: format!("From {}; {} rows are no jobs.", file.display(), trace.skipped),
    })
}

fn tenants(args: &SimulateArgs, path: &Path) -> anyhow::Result<Vec<Tenant>> {
    let nodes = trace::read_nodes(path)?;
    let tenant = |(team, nodes): (String, u32)| {
        let gpus = nodes.checked_mul(args.node_gpus).with_context(|| format!("{team}: too many nodes"))?;
        anyhow::Ok(Tenant { team, guaranteed_gpus: gpus / args.quota_divisor })
    };
    nodes.into_iter().map(tenant).collect()
}

fn from_demand(args: &SimulateArgs, file: &Path) -> anyhow::Result<Work> {
    let demand = demand::read(file)?;
    let (workload, cut) = demand.jobs();
    Ok(Work {
        workload,
        nodes: args.nodes.unwrap_or(demand.capacity_gpus() / args.node_gpus),
        told: format!(
            "Cut from the demand of {}; jobs leave when demand falls, done or not ({cut} of 8 GPUs were cut smaller).",
            file.display()
        ),
        tenants: demand.tenants,
    })
}

fn generated(args: &SimulateArgs, size: &str) -> Work {
    let size = match size.to_ascii_uppercase().as_str() {
        "S" => Size::SMALL,
        "M" => Size::MEDIUM,
        _ => Size::LARGE,
    };
    let named = Parameters::named(size);
    let parameters = Parameters {
        nodes: args.nodes.unwrap_or(named.nodes),
        node_gpus: args.node_gpus,
        teams: args.teams.unwrap_or(named.teams),
        jobs: args.jobs.unwrap_or(named.jobs),
        days: args.days,
        load: args.load,
        seed: args.seed,
    };
    Work {
        workload: parameters.workload(),
        tenants: parameters.tenants(),
        nodes: parameters.nodes,
        told: format!("Made up with seed {}, load {}.", parameters.seed, parameters.load),
    }
}
