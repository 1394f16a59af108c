//! Random jobs.
//!
//! Nothing here looks at the state: what is asked for may be impossible.

use super::SplitMix;
use crate::id::{JobId, UserId};
use crate::job::{CheckpointMode, GpuAsk, NvLink, Shape};
use crate::kind::Kind;
use crate::priority::{Priority, PriorityClass};
use crate::schedule::snapshot::{Job, Pool, Queue};
use crate::units::{Mib, MilliCpu, MilliGpu};
use std::collections::BTreeMap;
use uuid::Uuid;

pub(super) fn priority(rng: &mut SplitMix) -> Priority {
    let classes = [PriorityClass::Low, PriorityClass::Low, PriorityClass::Normal, PriorityClass::High];
    classes[rng.below(4) as usize].value()
}

/// One member on whole GPUs of one node.
pub(super) fn plain(rng: &mut SplitMix, id: JobId, queue: &Queue, name: String) -> Job {
    let gpus = [1, 1, 1, 2, 2, 3, 4][rng.below(7) as usize];
    Job {
        id,
        name,
        team: queue.team,
        queue: queue.id,
        user: UserId(Uuid::from_u128(u128::from(rng.below(2)) + 1)),
        kind: Kind::Batch,
        priority: priority(rng),
        team_priority: None,
        submitted_at: chrono::DateTime::UNIX_EPOCH,
        shape: Shape { gpus: GpuAsk::Whole { gpus }, cpu: MilliCpu::ZERO, memory: Mib::ZERO },
        min_replicas: 1,
        max_replicas: 1,
        pools: Vec::new(),
        gpu_model: None,
        labels: BTreeMap::new(),
        require_topology: None,
        prefer_topology: None,
        nvlink: NvLink::Preferred,
        rdma: false,
        time_limit_secs: None,
        preemptible: true,
        idle: false,
        never_evict: false,
        evict_others: true,
        requeue: true,
        checkpoint: [CheckpointMode::None, CheckpointMode::OnSignal, CheckpointMode::Periodic]
            [rng.below(3) as usize],
        last_checkpoint_at: None,
        run_number: 0,
        evictions_in_last_day: 0,
        held: false,
        members: Vec::new(),
    }
}

pub(super) fn make_wild(rng: &mut SplitMix, job: &mut Job, pools: &[Pool]) {
    job.kind = Kind::ALL[rng.below(5) as usize];
    job.shape.cpu = MilliCpu(i64::from(rng.below(5)) * 2_000);
    job.shape.memory = Mib(i64::from(rng.below(5)) * 8_192);
    match rng.below(8) {
        0 => {
            let share = [250, 400, 500, 600, 1_000][rng.below(5) as usize];
            let memory = Mib(i64::from(rng.below(4)) * 20_480);
            job.shape.gpus = GpuAsk::Share { devices: 1 + rng.below(2), milli: MilliGpu(share), memory };
        }
        1 => job.shape.gpus = GpuAsk::None,
        _ => {}
    }
    if rng.one_in(4) {
        job.min_replicas = 1 + rng.below(3);
        job.max_replicas = job.min_replicas;
    }
    if job.kind == Kind::Inference || rng.one_in(6) {
        job.max_replicas = job.min_replicas + rng.below(4);
    }
    if rng.one_in(8) {
        job.labels.insert("half".into(), rng.below(2).to_string());
    }
    match rng.below(10) {
        0 => job.require_topology = Some("rack".into()),
        1 => job.prefer_topology = Some("rack".into()),
        2 => job.require_topology = Some("zone".into()),
        _ => {}
    }
    if rng.one_in(8) {
        job.pools.extend(rng.pick(pools).map(|pool| pool.id));
    } else if rng.one_in(8) {
        job.pools.extend(pools.iter().rev().map(|pool| pool.id));
    }
    if rng.one_in(10) {
        job.gpu_model = Some(format!("model{}", rng.below(2)));
    }
    if rng.one_in(10) {
        job.time_limit_secs = Some(i64::from(1 + rng.below(6)) * 600);
    }
    if rng.one_in(8) {
        job.nvlink = NvLink::Required;
    }
    job.rdma = rng.one_in(12);
    job.preemptible = !rng.one_in(10);
    job.evict_others = !rng.one_in(10);
    job.requeue = !rng.one_in(10);
    job.held = rng.one_in(20);
    if rng.one_in(3) {
        job.time_limit_secs = Some([300, 1_200, 7_200][rng.below(3) as usize]);
    }
}
