//! `nodes`, `teams` and `queues`.

use super::super::format::{NodeSpec, PerPool, QueuePatch, TeamPatch};
use super::super::read::{
    Fields, Read, boolean, integer, is_null, list, map, memory_gib, milli_cpu, milli_gpu, names, nullable,
    owned, word,
};
use super::super::yaml::{FormatError, Key, Node, Value};
use crate::units::{Mib, MilliCpu};
use std::collections::BTreeMap;

const NODE_KEYS: &[&str] = &[
    "name",
    "count",
    "gpus",
    "pool",
    "topology",
    "nvlink",
    "cpu",
    "memory_gib",
    "gpu_memory_gib",
    "rdma",
    "labels",
    "datasets",
    "state",
];

/// A file that does not speak of cpu or memory wants no limit by them.
const PLENTY_OF_CORES: MilliCpu = MilliCpu(1_000_000);
const PLENTY_OF_MEMORY: Mib = Mib(16 * 1_024 * 1_024);
const DEFAULT_GPU_MEMORY: Mib = Mib(80 * 1_024);

/// The most nodes that one entry may stand for.
const MAX_COUNT: u32 = 10_000;

pub(super) fn nodes(node: &Node) -> Read<Vec<NodeSpec>> {
    let mut nodes: Vec<NodeSpec> = Vec::new();
    for entry in list(node, "nodes")? {
        let fields = Fields::of(entry, "a node", NODE_KEYS)?;
        let count = fields.or("count", 1, integer::<u32>)?;
        if count > MAX_COUNT {
            return Err(FormatError::new(
                fields.key_at("count"),
                format!("at most {MAX_COUNT} nodes an entry"),
            ));
        }
        let name = fields.read("name", owned)?;
        let template = node_spec(&fields)?;
        for number in 1..=count {
            let name = match &name {
                Some(name) if fields.get("count").is_some() => format!("{name}{number}"),
                Some(name) => name.clone(),
                None => format!("n{}", nodes.len() + 1),
            };
            if nodes.iter().any(|other| other.name == name) {
                return Err(FormatError::new(entry.at, format!("a second node `{name}`")));
            }
            nodes.push(NodeSpec { name, ..template.clone() });
        }
    }
    Ok(nodes)
}

fn node_spec(fields: &Fields<'_>) -> Read<NodeSpec> {
    Ok(NodeSpec {
        at: fields.at,
        name: String::new(),
        pool: fields.read("pool", owned)?,
        gpus: fields.or("gpus", 8, gpu_count)?,
        gpu_memory: fields.or("gpu_memory_gib", DEFAULT_GPU_MEMORY, memory_gib)?,
        cpu: fields.or("cpu", PLENTY_OF_CORES, milli_cpu)?,
        memory: fields.or("memory_gib", PLENTY_OF_MEMORY, memory_gib)?,
        state: fields.or("state", crate::node::NodeState::Ready, word)?,
        labels: fields.or("labels", BTreeMap::new(), text_map)?,
        topology: fields.or("topology", BTreeMap::new(), text_map)?,
        nvlink: fields.or("nvlink", Vec::new(), domains)?,
        rdma: fields.or("rdma", false, boolean)?,
        datasets: fields.or("datasets", Vec::new(), names)?,
    })
}

fn gpu_count(node: &Node) -> Read<u32> {
    let gpus = integer::<u32>(node)?;
    if gpus > 10_000 {
        return Err(FormatError::new(node.at, "at most 10000 GPUs a node"));
    }
    Ok(gpus)
}

fn domains(node: &Node) -> Read<Vec<Vec<u32>>> {
    list(node, "nvlink")?
        .iter()
        .map(|domain| list(domain, "an NVLink domain")?.iter().map(integer::<u32>).collect())
        .collect()
}

pub(super) fn text_map(node: &Node) -> Read<BTreeMap<String, String>> {
    map(node, "this")?.iter().map(|(key, value)| Ok((key.text.clone(), owned(value)?))).collect()
}

const TEAM_KEYS: &[&str] =
    &["guaranteed", "borrow_limit", "lend_limit", "weight", "parent", "ceiling", "drain"];

pub(super) fn teams(node: &Node) -> Read<Vec<TeamPatch>> {
    map(node, "teams")?.iter().map(|(key, value)| team(key, value)).collect()
}

fn team(key: &Key, node: &Node) -> Read<TeamPatch> {
    let fields = Fields::of(node, "a team", TEAM_KEYS)?;
    Ok(TeamPatch {
        at: key.at,
        name: key.text.clone(),
        delete: matches!(&node.value, Value::Text { text, .. } if matches!(text.as_str(), "null" | "~")),
        parent: fields.read("parent", |node| nullable(node, owned))?,
        guaranteed: fields.read("guaranteed", |node| per_pool(node, milli_gpu))?,
        borrow_limit: fields.read("borrow_limit", |node| per_pool(node, |node| nullable(node, milli_gpu)))?,
        lend_limit: fields.read("lend_limit", |node| per_pool(node, |node| nullable(node, milli_gpu)))?,
        weight: fields.read("weight", |node| per_pool(node, integer::<u32>))?,
        drain: fields.read("drain", boolean)?,
        ceiling: fields.read("ceiling", word)?,
    })
}

fn per_pool<'a, T>(node: &'a Node, read: impl Fn(&'a Node) -> Read<T>) -> Read<PerPool<T>> {
    match &node.value {
        Value::Map(entries) => {
            let each = entries
                .iter()
                .map(|(key, value)| Ok((key.text.clone(), key.at, read(value)?)))
                .collect::<Read<_>>()?;
            Ok(PerPool::Each(each))
        }
        _ => read(node).map(PerPool::Every),
    }
}

const QUEUE_KEYS: &[&str] =
    &["team", "order", "state", "kinds", "max_running_jobs", "max_running_jobs_per_user", "max_running_gpus"];

pub(super) fn queues(node: &Node) -> Read<Vec<QueuePatch>> {
    map(node, "queues")?.iter().map(|(key, value)| queue(key, value)).collect()
}

fn queue(key: &Key, node: &Node) -> Read<QueuePatch> {
    let fields = Fields::of(node, "a queue", QUEUE_KEYS)?;
    let kinds = fields.read("kinds", |node| {
        if is_null(node) {
            return Ok(Vec::new());
        }
        list(node, "kinds")?.iter().map(word).collect::<Read<Vec<_>>>()
    })?;
    Ok(QueuePatch {
        at: key.at,
        name: key.text.clone(),
        team: fields.read("team", owned)?,
        order: fields.read("order", word)?,
        state: fields.read("state", word)?,
        kinds,
        max_running_jobs: fields.read("max_running_jobs", |node| nullable(node, integer::<u32>))?,
        max_running_jobs_per_user: fields
            .read("max_running_jobs_per_user", |node| nullable(node, integer::<u32>))?,
        max_running_gpus: fields.read("max_running_gpus", |node| nullable(node, milli_gpu))?,
    })
}
