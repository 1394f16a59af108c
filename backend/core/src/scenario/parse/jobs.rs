//! `jobs` and `submit`: what a job asks for, and (for `jobs`) where it stands at the start.

use super::super::format::{InitialState, JobSpec};
use super::super::read::{
    Fields, Read, boolean, duration_secs, integer, map, memory_gib, milli_cpu, names, owned, text,
    thousandths, word,
};
use super::super::yaml::{FormatError, Key, Node};
use super::cluster::text_map;
use crate::job::{CheckpointMode, GpuAsk, NvLink};
use crate::kind::Kind;
use crate::priority::{Priority, PriorityClass};
use crate::units::{Mib, MilliCpu, MilliGpu};
use std::collections::BTreeMap;

const KEYS: &[&str] = &[
    "team",
    "queue",
    "user",
    "kind",
    "priority",
    "gpus",
    "replicas",
    "min_replicas",
    "max_replicas",
    "gpu_share",
    "gpu_memory_gib",
    "devices",
    "cpu",
    "memory_gib",
    "pools",
    "gpu_model",
    "labels",
    "require_topology",
    "prefer_topology",
    "nvlink",
    "rdma",
    "datasets",
    "time_limit",
    "preemptible",
    "idle",
    "evict_others",
    "checkpoint",
    "last_checkpoint",
    "requeue",
    "state",
    "started",
    "submitted",
    "node",
    "count",
];

const MAX_COUNT: u32 = 100_000;

/// All jobs of a section, `count` unfolded: `b: {count: 2}` makes `b1` and `b2`.
pub(super) fn jobs(node: &Node) -> Read<Vec<JobSpec>> {
    let mut jobs: Vec<JobSpec> = Vec::new();
    for (key, value) in map(node, "jobs")? {
        let fields = Fields::of(value, "a job", KEYS)?;
        let template = job(key, &fields)?;
        let Some(count) = fields.read("count", integer::<u32>)? else {
            jobs.push(template);
            continue;
        };
        if count > MAX_COUNT {
            return Err(FormatError::new(
                fields.key_at("count"),
                format!("at most {MAX_COUNT} jobs an entry"),
            ));
        }
        jobs.extend(
            (1..=count).map(|number| JobSpec { name: format!("{}{number}", key.text), ..template.clone() }),
        );
    }
    Ok(jobs)
}

fn job(key: &Key, fields: &Fields<'_>) -> Read<JobSpec> {
    let (min_replicas, max_replicas, replicas) = replicas(fields)?;
    fields.read("datasets", names)?;
    let team = fields.read("team", owned)?;
    Ok(JobSpec {
        at: key.at,
        name: key.text.clone(),
        team: team.ok_or_else(|| FormatError::new(key.at, format!("job `{}` needs a `team`", key.text)))?,
        queue: fields.read("queue", owned)?,
        user: fields.or("user", "u".into(), owned)?,
        kind: fields.or("kind", Kind::Batch, word)?,
        priority: fields.read("priority", priority)?,
        gpus: gpus(fields)?,
        cpu: fields.or("cpu", MilliCpu::ZERO, milli_cpu)?,
        memory: fields.or("memory_gib", Mib::ZERO, memory_gib)?,
        min_replicas,
        max_replicas,
        replicas,
        pools: fields.or("pools", Vec::new(), names)?,
        gpu_model: fields.read("gpu_model", owned)?,
        labels: fields.or("labels", BTreeMap::new(), text_map)?,
        require_topology: fields.read("require_topology", owned)?,
        prefer_topology: fields.read("prefer_topology", owned)?,
        nvlink: fields.or("nvlink", NvLink::Preferred, word)?,
        rdma: fields.or("rdma", false, boolean)?,
        time_limit_secs: fields.read("time_limit", duration_secs)?,
        preemptible: fields.or("preemptible", true, boolean)?,
        idle: fields.or("idle", false, boolean)?,
        evict_others: fields.or("evict_others", true, boolean)?,
        requeue: fields.or("requeue", true, boolean)?,
        checkpoint: fields.or("checkpoint", CheckpointMode::None, word)?,
        last_checkpoint_secs: fields.read("last_checkpoint", duration_secs)?,
        started_secs: fields.read("started", duration_secs)?,
        submitted_secs: fields.read("submitted", duration_secs)?,
        state: fields.or("state", InitialState::Pending, initial_state)?,
        nodes: fields.or("node", Vec::new(), names)?,
    })
}

pub(super) fn priority(node: &Node) -> Read<Priority> {
    let found = text(node)?;
    if let Ok(number) = found.parse::<i32>() {
        return Ok(Priority(number));
    }
    word::<PriorityClass>(node).map(PriorityClass::value)
}

fn initial_state(node: &Node) -> Read<InitialState> {
    match text(node)? {
        "pending" => Ok(InitialState::Pending),
        "running" => Ok(InitialState::Running),
        "leaving" => Ok(InitialState::Leaving),
        other => Err(FormatError::new(
            node.at,
            format!("`{other}` is no state; expected pending, running, leaving"),
        )),
    }
}

/// Minimum, maximum, and what a running job has: as many as said, or else its maximum.
fn replicas(fields: &Fields<'_>) -> Read<(u32, u32, u32)> {
    let given = fields.read("replicas", integer::<u32>)?;
    let min = fields.read("min_replicas", integer::<u32>)?;
    let max = fields.read("max_replicas", integer::<u32>)?;
    let lower = min.or(given).unwrap_or(1);
    let upper = max.or(given).unwrap_or(lower).max(lower);
    let has = given.unwrap_or(upper);
    if has < lower || has > upper || max.is_some_and(|max| max < lower) {
        let message = format!("replicas {has} must lie in min_replicas {lower} … max_replicas {upper}");
        return Err(FormatError::new(fields.key_at("replicas"), message));
    }
    if upper > 100_000 {
        return Err(FormatError::new(fields.key_at("max_replicas"), "at most 100000 replicas"));
    }
    Ok((lower, upper, has))
}

fn gpus(fields: &Fields<'_>) -> Read<GpuAsk> {
    let memory = fields.or("gpu_memory_gib", Mib::ZERO, memory_gib)?;
    let devices = fields.or("devices", 1, integer::<u32>)?;
    if let Some(share) = fields.get("gpu_share") {
        if fields.get("gpus").is_some() {
            return Err(FormatError::new(fields.key_at("gpu_share"), "either `gpus` or `gpu_share`"));
        }
        let milli = thousandths(share)?;
        if !(1..=1_000).contains(&milli) {
            return Err(FormatError::new(share.at, "gpu_share must lie above 0 and at most at 1"));
        }
        return Ok(GpuAsk::Share { devices, milli: MilliGpu(milli), memory });
    }
    if fields.get("devices").is_some() {
        return Err(FormatError::new(fields.key_at("devices"), "`devices` needs a `gpu_share`"));
    }
    let Some(node) = fields.get("gpus") else { return Ok(GpuAsk::Whole { gpus: 1 }) };
    match thousandths(node)? {
        0 => Ok(GpuAsk::None),
        milli @ 1..1_000 => Ok(GpuAsk::Share { devices: 1, milli: MilliGpu(milli), memory }),
        milli if milli > 0 && milli % 1_000 == 0 => {
            let gpus = u32::try_from(milli / 1_000);
            let gpus = gpus.map_err(|_| FormatError::new(node.at, "too many GPUs"))?;
            Ok(GpuAsk::Whole { gpus })
        }
        _ => Err(FormatError::new(
            node.at,
            "gpus is a whole number, or below 1; use `devices` with `gpu_share` for shares of several",
        )),
    }
}
