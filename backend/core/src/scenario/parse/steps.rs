//! `steps`: what happens, and what is expected of it.

use super::super::format::{Action, NodeCommand, Pick, SetSpec, Step};
use super::super::read::{Fields, Read, duration_secs, integer, list, map, names, text};
use super::super::yaml::{FormatError, Node};
use super::{cluster, expect, jobs, policy};

const KEYS: &[&str] = &[
    "submit",
    "vacate",
    "wait",
    "cycles",
    "set",
    "node",
    "finish",
    "fail",
    "cancel",
    "checkpoint",
    "expect",
];

const MAX_CYCLES: u32 = 100_000;

pub(super) fn steps(node: &Node) -> Read<Vec<Step>> {
    list(node, "steps")?.iter().map(step).collect()
}

fn step(node: &Node) -> Read<Step> {
    let fields = Fields::of(node, "a step", KEYS)?;
    let mut actions = Vec::new();
    for (key, value) in fields.in_order().iter().filter(|(key, _)| key.text != "expect") {
        actions.push((key.at, action(&key.text, value)?));
    }
    Ok(Step { at: node.at, actions, expect: fields.read("expect", expect::expect)? })
}

fn action(name: &str, value: &Node) -> Read<Action> {
    Ok(match name {
        "submit" => Action::Submit(jobs::jobs(value)?),
        "vacate" => Action::Vacate(pick(value)?),
        "wait" => Action::Wait(wait(value)?),
        "cycles" => Action::Cycles(cycles(value)?),
        "set" => Action::Set(set(value)?),
        "node" => Action::Node(node_commands(value)?),
        "finish" => Action::Finish(pick(value)?),
        "fail" => Action::Fail(pick(value)?),
        "cancel" => Action::Cancel(pick(value)?),
        _ => Action::Checkpoint(pick(value)?),
    })
}

fn pick(node: &Node) -> Read<Pick> {
    match text(node) {
        Ok("all") => Ok(Pick::All),
        _ => names(node).map(Pick::Names),
    }
}

fn wait(node: &Node) -> Read<i64> {
    let secs = duration_secs(node)?;
    if secs < 0 {
        return Err(FormatError::new(node.at, "time does not run backwards"));
    }
    Ok(secs)
}

fn cycles(node: &Node) -> Read<u32> {
    let count = integer::<u32>(node)?;
    if count > MAX_CYCLES {
        return Err(FormatError::new(node.at, format!("at most {MAX_CYCLES} cycles")));
    }
    Ok(count)
}

fn set(node: &Node) -> Read<SetSpec> {
    let fields = Fields::of(node, "set", &["policy", "teams", "queues", "jobs"])?;
    Ok(SetSpec {
        policy: fields.read("policy", policy::policy)?.unwrap_or_default(),
        teams: fields.or("teams", Vec::new(), cluster::teams)?,
        queues: fields.or("queues", Vec::new(), cluster::queues)?,
        priorities: fields.or("jobs", Vec::new(), priorities)?,
    })
}

fn priorities(node: &Node) -> Read<Vec<(String, crate::priority::Priority)>> {
    map(node, "jobs")?
        .iter()
        .map(|(key, value)| {
            let fields = Fields::of(value, "a job in `set`", &["priority"])?;
            let priority = fields.read("priority", jobs::priority)?;
            let missing = || FormatError::new(key.at, "only a job's `priority` can be set");
            Ok((key.text.clone(), priority.ok_or_else(missing)?))
        })
        .collect()
}

fn node_commands(node: &Node) -> Read<Vec<(String, NodeCommand)>> {
    map(node, "node")?
        .iter()
        .map(|(key, value)| {
            let command = match text(value)? {
                "lost" => NodeCommand::Lost,
                "ready" => NodeCommand::Ready,
                "cordoned" | "cordon" => NodeCommand::Cordoned,
                "drain" | "draining" => NodeCommand::Drain,
                other => {
                    let message = format!("`{other}` is none of lost, ready, cordoned, drain");
                    return Err(FormatError::new(value.at, message));
                }
            };
            Ok((key.text.clone(), command))
        })
        .collect()
}
