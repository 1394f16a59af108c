//! From text to [`Scenario`]s: one file a section.
//!
//! This module refuses unknown keys everywhere, and guesses nothing that `SCENARIOS.md` leaves out.

mod calendar;
mod cluster;
mod expect;
mod jobs;
mod policy;
mod steps;
mod unplanned;

use super::format::{NodeSpec, PoolSpec, Scenario};
use super::read::{Fields, Read, is_null, list, owned};
use super::yaml::{FormatError, Node, documents};

const SECTIONS: &[&str] =
    &["name", "policy", "pools", "nodes", "teams", "queues", "jobs", "reservations", "maintenance", "steps"];

/// All scenarios of a file.
///
/// # Errors
/// Broken YAML, unknown keys, wrong values: the first one, with its line and column.
pub fn parse(text: &str) -> Result<Vec<Scenario>, FormatError> {
    let documents = documents(text)?;
    let documents = documents.iter().filter(|node| !is_null(node));
    let scenarios: Vec<Scenario> = documents.map(|node| scenario(node, None)).collect::<Read<_>>()?;
    if scenarios.is_empty() {
        return Err(FormatError::new(super::yaml::Pos { line: 1, column: 1 }, "no scenario in this file"));
    }
    Ok(scenarios)
}

/// The same for files that only set a cluster up: they may leave out their name.
///
/// # Errors
/// As [`parse`].
pub fn parse_setups(text: &str, default_name: &str) -> Result<Vec<Scenario>, FormatError> {
    let documents = documents(text)?;
    documents.iter().filter(|node| !is_null(node)).map(|node| scenario(node, Some(default_name))).collect()
}

fn scenario(node: &Node, default_name: Option<&str>) -> Read<Scenario> {
    let fields = Fields::of(node, "the scenario", SECTIONS)?;
    let name = fields.read("name", owned)?;
    let nodes = fields.or("nodes", Vec::new(), cluster::nodes)?;
    let pools = fields.or("pools", Vec::new(), pools)?;
    Ok(Scenario {
        name: name
            .or_else(|| default_name.map(str::to_owned))
            .ok_or_else(|| FormatError::new(node.at, "a scenario needs a `name`"))?,
        at: node.at,
        policy: fields.read("policy", policy::policy)?.unwrap_or_default(),
        pools: if pools.is_empty() { implied_pools(&nodes) } else { pools },
        nodes,
        teams: fields.or("teams", Vec::new(), cluster::teams)?,
        queues: fields.or("queues", Vec::new(), cluster::queues)?,
        jobs: fields.or("jobs", Vec::new(), jobs::jobs)?,
        reservations: fields.or("reservations", Vec::new(), calendar::reservations)?,
        maintenance: fields.or("maintenance", Vec::new(), calendar::maintenance)?,
        steps: fields.or("steps", Vec::new(), steps::steps)?,
        notes: unplanned::notes(node),
    })
}

fn pools(node: &Node) -> Read<Vec<PoolSpec>> {
    list(node, "pools")?
        .iter()
        .map(|pool| {
            let fields = Fields::of(pool, "a pool", &["name", "gpu_model"])?;
            let name = fields.read("name", owned)?;
            let name = name.ok_or_else(|| FormatError::new(pool.at, "a pool needs a `name`"))?;
            Ok(PoolSpec { gpu_model: fields.or("gpu_model", name.clone(), owned)?, name })
        })
        .collect()
}

/// Without `pools`: those that the nodes name, or the one pool `p`.
fn implied_pools(nodes: &[NodeSpec]) -> Vec<PoolSpec> {
    let mut pools: Vec<PoolSpec> = Vec::new();
    for name in nodes.iter().filter_map(|node| node.pool.as_ref()) {
        if pools.iter().all(|pool| pool.name != *name) {
            pools.push(PoolSpec { name: name.clone(), gpu_model: name.clone() });
        }
    }
    if pools.is_empty() {
        pools.push(PoolSpec { name: "p".into(), gpu_model: "p".into() });
    }
    pools
}
