//! Rules that hold in every state: bookings, gangs, nominations.

use super::Violation;
use super::index::{Index, stays};
use crate::id::{GpuId, JobId, NodeId, PoolId};
use crate::job::{GpuAsk, Shape};
use crate::schedule::snapshot::{GpuSlice, Job};
use crate::units::{Mib, MilliCpu, MilliGpu, WHOLE_GPU};
use std::collections::{BTreeMap, BTreeSet};

/// Sums of what is booked on GPUs and nodes.
#[derive(Debug, Default, Clone)]
pub(super) struct Bookings {
    gpus: BTreeMap<GpuId, (MilliGpu, Mib)>,
    nodes: BTreeMap<NodeId, (MilliCpu, Mib)>,
}

impl Bookings {
    pub(super) fn add(&mut self, node: NodeId, gpus: &[GpuSlice], shape: &Shape) {
        for slice in gpus {
            let booked = self.gpus.entry(slice.gpu).or_default();
            booked.0 += slice.milli;
            booked.1 += slice.memory;
        }
        let booked = self.nodes.entry(node).or_default();
        booked.0 += shape.cpu;
        booked.1 += shape.memory;
    }

    /// Members that are there (`leaving` ones too or not) and nothing else.
    pub(super) fn of_members(index: &Index<'_>, with_leaving: bool) -> Self {
        let mut bookings = Self::default();
        for job in &index.snapshot.jobs {
            for member in job.members.iter().filter(|member| with_leaving || stays(member)) {
                bookings.add(member.node, &member.gpus, &job.shape);
            }
        }
        bookings
    }

    pub(super) fn add_nominations(&mut self, index: &Index<'_>) {
        for nomination in &index.snapshot.nominations {
            // Of a job that is gone, or runs elsewhere: nobody's any more.
            let waits = |job: &&&Job| !job.members.iter().any(stays);
            let Some(job) = index.jobs.get(&nomination.job).filter(waits) else { continue };
            for placement in &nomination.members {
                self.add(placement.node, &placement.gpus, &job.shape);
            }
        }
    }

    pub(super) fn excess(&self, index: &Index<'_>, rule: &'static str) -> Vec<Violation> {
        let mut found = Vec::new();
        for (id, (milli, memory)) in &self.gpus {
            let Some((_, gpu)) = index.gpus.get(id) else { continue };
            if *milli > WHOLE_GPU || *memory > gpu.memory {
                let detail = format!(
                    "GPU {id}: {} of 1000 milli and {} of {} MiB are booked",
                    milli.0, memory.0, gpu.memory.0
                );
                found.push(Violation::new(rule, detail));
            }
        }
        for (id, (cpu, memory)) in &self.nodes {
            let Some(node) = index.nodes.get(id) else { continue };
            if *cpu > node.cpu || *memory > node.memory {
                let detail = format!(
                    "node {id}: {} of {} milli-CPU and {} of {} MiB are booked",
                    cpu.0, node.cpu.0, memory.0, node.memory.0
                );
                found.push(Violation::new(rule, detail));
            }
        }
        found
    }
}

pub(super) fn violations(index: &Index<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    if index.jobs.len() != index.snapshot.jobs.len() {
        found.push(Violation::new("job_twice", "two jobs have one id"));
    }
    for job in &index.snapshot.jobs {
        gang(index, job, &mut found);
        for member in &job.members {
            if let Err(what) = fits_ask(index, member.node, &member.gpus, job.shape.gpus) {
                found.push(Violation::new("not_what_was_asked", format!("job {}: {what}", job.id)));
            }
        }
    }
    found.extend(Bookings::of_members(index, true).excess(index, "double_booked"));
    let mut promised = Bookings::of_members(index, false);
    promised.add_nominations(index);
    found.extend(promised.excess(index, "nomination_intruded"));
    nominated_once(index, &mut found);
    found
}

fn gang(index: &Index<'_>, job: &Job, found: &mut Vec<Violation>) {
    let staying = job.members.iter().filter(|member| stays(member)).count();
    let indices: BTreeSet<u32> = job.members.iter().map(|member| member.index).collect();
    if indices.len() != job.members.len() {
        found.push(Violation::new("member_twice", format!("job {}", job.id)));
    }
    if staying > 0 && staying < job.min_replicas as usize {
        let detail = format!("job {}: {staying} of at least {} members", job.id, job.min_replicas);
        found.push(Violation::new("gang_not_whole", detail));
    }
    if staying > job.max_replicas as usize {
        let detail = format!("job {}: {staying} of at most {} members", job.id, job.max_replicas);
        found.push(Violation::new("gang_too_large", detail));
    }
    let pools: BTreeSet<Option<PoolId>> =
        job.members.iter().map(|member| index.pool_of(member.node)).collect();
    if pools.len() > 1 {
        found.push(Violation::new("gang_in_two_pools", format!("job {}", job.id)));
    }
}

/// Whether the slices are what one member asks: on its node, on different GPUs, of the right size.
pub(super) fn fits_ask(
    index: &Index<'_>,
    node: NodeId,
    gpus: &[GpuSlice],
    ask: GpuAsk,
) -> Result<(), String> {
    if gpus.len() != ask.devices() as usize {
        return Err(format!("{} GPUs for {}", gpus.len(), ask.devices()));
    }
    let different: BTreeSet<GpuId> = gpus.iter().map(|slice| slice.gpu).collect();
    if different.len() != gpus.len() {
        return Err("one GPU twice".into());
    }
    for slice in gpus {
        if index.gpus.get(&slice.gpu).is_some_and(|(host, _)| host.id != node) {
            return Err(format!("GPU {} is not on node {node}", slice.gpu));
        }
        let exact = match ask {
            GpuAsk::None => false,
            GpuAsk::Whole { .. } => slice.milli == WHOLE_GPU,
            GpuAsk::Share { milli, memory, .. } => slice.milli == milli && slice.memory == memory,
        };
        if !exact {
            return Err(format!("{} milli and {} MiB of GPU {}", slice.milli.0, slice.memory.0, slice.gpu));
        }
    }
    Ok(())
}

fn nominated_once(index: &Index<'_>, found: &mut Vec<Violation>) {
    let mut seen: BTreeSet<JobId> = BTreeSet::new();
    for nomination in &index.snapshot.nominations {
        if !seen.insert(nomination.job) {
            found.push(Violation::new("nominated_twice", format!("job {}", nomination.job)));
        }
    }
}
