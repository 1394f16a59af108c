//! Where the jobs stand that a file says are running: on the nodes it names, or else first fit in the
//! file's order, with a bounded search where first fit paints itself into a corner.
//!
//! This is no planner: it knows no quota, because a story may begin in a state that no plan would make.

use super::format::{InitialState, JobSpec};
use super::world::World;
use super::yaml::{FormatError, Pos};
use crate::eviction::EvictionCause;
use crate::id::{GpuId, JobId, NodeId};
use crate::job::GpuAsk;
use crate::schedule::snapshot::{GpuSlice, Leaving, Member, Node};
use crate::units::{Mib, MilliCpu, MilliGpu, WHOLE_GPU};
use chrono::TimeDelta;
use std::collections::BTreeMap;

/// A running job that does not say since when has run for a day: no minimum run time protects it.
pub(super) const LONG_AGO_SECS: i64 = -86_400;

/// Steps of the search over nodes.
const BUDGET: u32 = 200_000;

/// One member to place: of which job, and where it may go.
struct Piece {
    job: usize,
    node: Option<NodeId>,
}

#[derive(Clone)]
struct Room {
    gpus: Vec<(GpuId, MilliGpu, Mib)>,
    cpu: MilliCpu,
    memory: Mib,
}

pub(super) fn place_running(world: &mut World, jobs: &[(JobId, &JobSpec)]) -> Result<(), FormatError> {
    let mut pieces = Vec::new();
    for (index, (_, spec)) in jobs.iter().enumerate() {
        for member in 0..spec.replicas as usize {
            pieces.push(Piece { job: index, node: fixed_node(world, spec, member)? });
        }
    }
    // Those with a place of their own first: nobody else may take it.
    pieces.sort_by_key(|piece| (piece.node.is_none(), piece.job));
    let mut rooms: BTreeMap<NodeId, Room> =
        world.cluster.snapshot.nodes.iter().map(|node| (node.id, room(node))).collect();
    let mut found = Vec::new();
    let mut budget = BUDGET;
    if !search(world, jobs, &pieces, &mut rooms, &mut found, &mut budget) {
        let stuck = jobs[pieces[found.len().min(pieces.len() - 1)].job].1;
        let at =
            if found.is_empty() { first_misfit(world, jobs, &pieces).unwrap_or(stuck.at) } else { stuck.at };
        return Err(FormatError::new(at, "the running jobs don't fit on the nodes"));
    }
    for (piece, (node, gpus)) in pieces.iter().zip(found) {
        let (id, spec) = jobs[piece.job];
        add_member(world, id, spec, node, gpus);
    }
    Ok(())
}

fn first_misfit(world: &World, jobs: &[(JobId, &JobSpec)], pieces: &[Piece]) -> Option<Pos> {
    let fits = |piece: &&Piece| {
        let spec = jobs[piece.job].1;
        let mut nodes = world.cluster.snapshot.nodes.iter();
        nodes.any(|node| take(&mut room(node), spec).is_some())
    };
    pieces.iter().find(|piece| !fits(piece)).map(|piece| jobs[piece.job].1.at)
}

/// `node: n1` for all members, or a list in which each member has its own.
fn fixed_node(world: &World, spec: &JobSpec, member: usize) -> Result<Option<NodeId>, FormatError> {
    let name = match spec.nodes.as_slice() {
        [] => return Ok(None),
        [only] => only,
        several => several.get(member).ok_or_else(|| {
            FormatError::new(
                spec.at,
                format!("`node` names {} nodes for {} members", several.len(), spec.replicas),
            )
        })?,
    };
    world.node(name, spec.at).map(Some)
}

fn room(node: &Node) -> Room {
    Room {
        gpus: node.gpus.iter().map(|gpu| (gpu.id, WHOLE_GPU, gpu.memory)).collect(),
        cpu: node.cpu,
        memory: node.memory,
    }
}

fn search(
    world: &World,
    jobs: &[(JobId, &JobSpec)],
    pieces: &[Piece],
    rooms: &mut BTreeMap<NodeId, Room>,
    found: &mut Vec<(NodeId, Vec<GpuSlice>)>,
    budget: &mut u32,
) -> bool {
    // Written as a loop: a scenario may have more members than a stack has frames.
    let nodes: Vec<NodeId> = world.cluster.snapshot.nodes.iter().map(|node| node.id).collect();
    let mut tried: Vec<(usize, Option<Room>)> = vec![(0, None)];
    while found.len() < pieces.len() {
        let Some((next, _)) = tried.last_mut() else { return false };
        let piece = &pieces[found.len()];
        let spec = jobs[piece.job].1;
        let mut placed = None;
        while *next < nodes.len() && placed.is_none() {
            let node = nodes[*next];
            *next += 1;
            if *budget == 0 {
                return false;
            }
            *budget -= 1;
            if piece.node.is_none_or(|fixed| fixed == node) && in_pool(world, spec, node) {
                placed = rooms.get_mut(&node).and_then(|room| {
                    let before = room.clone();
                    take(room, spec).map(|gpus| (node, gpus, before))
                });
            }
        }
        if let Some((node, gpus, before)) = placed {
            found.push((node, gpus));
            if let Some(last) = tried.last_mut() {
                last.1 = Some(before);
            }
            tried.push((0, None));
            continue;
        }
        tried.pop();
        let (Some((node, _)), Some(last)) = (found.pop(), tried.last_mut()) else { return false };
        if let Some(before) = last.1.take() {
            rooms.insert(node, before);
        }
    }
    true
}

fn in_pool(world: &World, spec: &JobSpec, node: NodeId) -> bool {
    let pool = world.cluster.snapshot.nodes.iter().find(|found| found.id == node).map(|node| node.pool);
    spec.pools.is_empty()
        || spec.pools.iter().any(|name| world.pools.get(name).is_some_and(|found| Some(*found) == pool))
}

/// Takes the member's GPUs, lowest index first.
fn take(room: &mut Room, spec: &JobSpec) -> Option<Vec<GpuSlice>> {
    if room.cpu < spec.cpu || room.memory < spec.memory {
        return None;
    }
    let wants = |&(_, milli, memory): &(GpuId, MilliGpu, Mib)| match spec.gpus {
        GpuAsk::None => false,
        GpuAsk::Whole { .. } => milli == WHOLE_GPU,
        GpuAsk::Share { milli: asked, memory: asked_memory, .. } => milli >= asked && memory >= asked_memory,
    };
    let count = spec.gpus.devices() as usize;
    let chosen: Vec<usize> = room
        .gpus
        .iter()
        .enumerate()
        .filter(|(_, gpu)| wants(gpu))
        .map(|(index, _)| index)
        .take(count)
        .collect();
    if chosen.len() < count {
        return None;
    }
    room.cpu -= spec.cpu;
    room.memory -= spec.memory;
    Some(chosen.into_iter().map(|index| slice(&mut room.gpus[index], spec.gpus)).collect())
}

fn slice(gpu: &mut (GpuId, MilliGpu, Mib), ask: GpuAsk) -> GpuSlice {
    let (milli, memory) = match ask {
        GpuAsk::Share { milli, memory, .. } => (milli, memory),
        _ => (gpu.1, gpu.2),
    };
    gpu.1 -= milli;
    gpu.2 -= memory;
    GpuSlice { gpu: gpu.0, milli, memory }
}

fn add_member(world: &mut World, id: JobId, spec: &JobSpec, node: NodeId, gpus: Vec<GpuSlice>) {
    let now = world.cluster.snapshot.now;
    let policy = world.cluster.snapshot.policy.clone();
    let Some(job) = world.cluster.job_mut(id) else { return };
    // `submitted_at` carries the file's order in microseconds; so does the start.
    let order = now + TimeDelta::seconds(spec.submitted_secs.or(spec.started_secs).unwrap_or(LONG_AGO_SECS));
    let started_at =
        now + TimeDelta::seconds(spec.started_secs.unwrap_or(LONG_AGO_SECS)) - (order - job.submitted_at);
    let leave_by = now + TimeDelta::seconds(policy.rules(job.kind).grace_secs);
    let leaving = (spec.state == InitialState::Leaving).then_some(Leaving {
        leave_by,
        cause: Some(EvictionCause::Reclaim),
        evictor: None,
    });
    let index = u32::try_from(job.members.len()).unwrap_or(u32::MAX);
    job.run_number = 1;
    job.members.push(Member { index, node, gpus, started_at, leaving });
}
