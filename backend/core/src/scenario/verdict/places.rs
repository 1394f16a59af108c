//! Where jobs run, and with how many members.

use super::super::format::{Bound, Place};
use super::super::yaml::Pos;
use super::{Met, StepFacts, count, equal, known, miss, number, plain};
use crate::schedule::snapshot::{Job, Node};
use std::collections::BTreeSet;

pub(super) fn placed(wanted: &[(String, Place)], facts: &StepFacts<'_>, at: Pos) -> Met {
    for (name, place) in wanted {
        let id = known(facts.world.job_id(name, at))?;
        let what = format!("placed {name}");
        let Some(job) = facts.world.cluster.job(id).filter(|job| !job.is_pending()) else {
            return miss(what, "it runs", super::state_of(facts.world, id));
        };
        let nodes = nodes_of(job, facts);
        match place {
            Place::Nodes(names) => on_nodes(&what, names, &nodes)?,
            Place::Same(level) => {
                let places: BTreeSet<&str> = nodes.iter().map(|node| at_level(node, level)).collect();
                let shown = places.iter().copied().collect::<Vec<_>>().join(", ");
                if places.len() != 1 || places.contains("") {
                    return miss(what, format!("one {level}"), format!("{level} {shown}"));
                }
            }
            Place::At(levels) => {
                for (level, wanted) in levels {
                    for node in &nodes {
                        equal(format!("{what}: {level} of {}", node.name), wanted, at_level(node, level))?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn nodes_of<'a>(job: &Job, facts: &'a StepFacts<'_>) -> Vec<&'a Node> {
    let all = &facts.world.cluster.snapshot.nodes;
    job.members.iter().filter_map(|member| all.iter().find(|node| node.id == member.node)).collect()
}

fn at_level<'a>(node: &'a Node, level: &str) -> &'a str {
    if level == "node" { &node.name } else { node.topology.get(level).map_or("", String::as_str) }
}

/// As many names as members: each member's node in any order; fewer: the set of nodes.
fn on_nodes(what: &str, names: &[String], nodes: &[&Node]) -> Met {
    let mut expected = names.to_vec();
    let mut got: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
    expected.sort();
    got.sort();
    if expected.len() != got.len() {
        expected.dedup();
        got.dedup();
    }
    equal(what, &expected.join(", "), &got.join(", "))
}

/// Members that run and are not asked to leave.
pub(super) fn replicas(wanted: &[(String, Bound)], facts: &StepFacts<'_>, at: Pos) -> Met {
    for (name, bound) in wanted {
        let id = known(facts.world.job_id(name, at))?;
        let members = facts
            .world
            .cluster
            .job(id)
            .map_or(0, |job| job.members.iter().filter(|member| member.leaving.is_none()).count());
        number(format!("replicas of {name}"), *bound, count(members), &plain)?;
    }
    Ok(())
}
