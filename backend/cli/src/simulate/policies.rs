//! The clusters to try the workload on: one a policy file, or the default policy on the workload's own tenants.

use super::args::SimulateArgs;
use super::work::Work;
use anyhow::{Context, ensure};
use reeve_core::policy::Policy;
use reeve_core::schedule::snapshot::Snapshot;
use reeve_sim::setup;
use std::path::Path;

/// A policy with its cluster.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) name: String,
    pub(super) cluster: Snapshot,
}

pub(super) fn read(args: &SimulateArgs, work: &Work) -> anyhow::Result<Vec<Trial>> {
    if args.policy.is_empty() {
        ensure!(
            !work.tenants.is_empty() && work.nodes > 0,
            "whose are the GPUs? Give --policy FILE with `nodes` and `teams`, or --teams-from FILE"
        );
        let cluster = setup::of_tenants(&work.tenants, work.nodes, args.node_gpus, Policy::default());
        return Ok(vec![Trial { name: "default policy".to_owned(), cluster }]);
    }
    args.policy.iter().map(|path| trial(args, work, path)).collect()
}

fn trial(args: &SimulateArgs, work: &Work, path: &Path) -> anyhow::Result<Trial> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let stem = path.file_stem().map_or_else(|| shown.clone(), |stem| stem.to_string_lossy().into_owned());
    let file = setup::read_policy(&text, &stem).with_context(|| shown.clone())?;
    let cluster = setup::completed(&file, &work.tenants, work.nodes, args.node_gpus);
    ensure!(
        !cluster.teams.is_empty(),
        "{shown}: there are no teams: add `teams: {{name: {{guaranteed: 8}}}}`, or give --teams-from FILE"
    );
    ensure!(
        !cluster.nodes.is_empty(),
        "{shown}: there are no nodes: add `nodes: [{{count: 4, gpus: 8}}]`, or give --nodes N"
    );
    let unknown: Vec<&str> = work
        .workload
        .teams
        .iter()
        .map(String::as_str)
        .filter(|name| cluster.teams.iter().all(|team| team.slug != *name))
        .collect();
    ensure!(
        unknown.is_empty(),
        "{shown}: the workload's teams {} are missing under `teams` (there are {})",
        unknown.join(", "),
        names(&cluster)
    );
    Ok(Trial { name: file.name, cluster })
}

fn names(cluster: &Snapshot) -> String {
    cluster.teams.iter().map(|team| team.slug.as_str()).collect::<Vec<_>>().join(", ")
}
