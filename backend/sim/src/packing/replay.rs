//! The protocol: pods arrive one by one, one decision each; a pod that does not fit is lost and counts as arrived.

use super::best_fit::BestFit;
use super::data::{Cluster, Pod, Workload};
use reeve_core::schedule::packing::{Index, NodeState, Packer, Scorer};

/// Pods that a node takes at most.
pub const POD_SLOTS: u32 = 1_001;

/// What came of one run.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// Percent of all GPUs allocated, averaged over the arrivals at which 100 % has been asked for.
    pub allocated_at_100: f64,
    pub decisions: u32,
}

/// The authors' reference.
#[must_use]
pub fn best_fit(cluster: &Cluster, workload: &Workload, arrivals: &[usize], ties: &[u32]) -> Outcome {
    let mut nodes = BestFit::new(cluster, ties);
    run(cluster, workload, arrivals, |pod, _| nodes.place(pod))
}

/// The product's placement, with its costs kept from run to run.
#[derive(Debug, Clone)]
pub struct Product {
    index: Index,
    /// By pod.
    asks: Vec<usize>,
}

impl Product {
    /// Prepares for a workload's mix.
    #[must_use]
    pub fn new(cluster: &Cluster, workload: &Workload) -> Self {
        let largest = cluster.nodes.iter().map(|node| usize::from(node.gpus)).max().unwrap_or(0);
        let packer = Packer::new(Scorer::new(&workload.mix(), &cluster.capacity_milli(), largest));
        let mut index = Index::new(packer, []);
        let asks = workload.pods.iter().map(|(_, pod)| index.ask(pod.ask)).collect();
        Self { index, asks }
    }

    /// One run on an empty cluster.
    pub fn replay(
        &mut self,
        cluster: &Cluster,
        workload: &Workload,
        arrivals: &[usize],
        ties: &[u32],
    ) -> Outcome {
        self.index.reset(cluster.nodes.iter().zip(ties).map(|(node, &tie)| {
            (NodeState::new(node.model, node.cpu_milli, (0..node.gpus).map(|_| 1_000)), tie)
        }));
        let mut memory: Vec<i64> = cluster.nodes.iter().map(|node| node.memory_mib).collect();
        let mut slots = vec![POD_SLOTS; cluster.nodes.len()];
        let Self { index, asks } = self;
        run(cluster, workload, arrivals, |pod, at| {
            let ask = asks[at];
            let accepts = |node: usize| memory[node] >= pod.memory_mib && slots[node] > 0;
            let Some((node, choice)) = index.choose(ask, accepts) else { return false };
            index.put(node, ask, choice);
            memory[node] -= pod.memory_mib;
            slots[node] -= 1;
            true
        })
    }
}

/// Runs arrivals until more than 100 % has been asked for.
fn run(
    cluster: &Cluster,
    workload: &Workload,
    arrivals: &[usize],
    mut place: impl FnMut(&Pod, usize) -> bool,
) -> Outcome {
    let total = cluster.gpu_milli();
    let (mut arrived, mut allocated, mut decisions) = (0_i64, 0_i64, 0_u32);
    let (mut sum_hundredths, mut count) = (0_i64, 0_i64);
    for &at in arrivals {
        let pod = &workload.pods[at].1;
        let milli = pod.ask.gpu_milli();
        arrived += milli;
        // Half to even: 99.5 rounds to 100, 100.5 as well.
        if arrived * 1_000 > total * 1_005 {
            break;
        }
        decisions += 1;
        if place(pod, at) {
            allocated += milli;
        }
        if arrived * 1_000 >= total * 995 {
            // Rounded to two places each time, as published.
            sum_hundredths += (allocated * 20_000 + total) / (2 * total);
            count += 1;
        }
    }
    let mean = sum_hundredths as f64 / count.max(1) as f64;
    Outcome { allocated_at_100: mean / 100.0, decisions }
}
