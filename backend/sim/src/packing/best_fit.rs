//! The authors' `BestFit`, as a reference: least CPU and GPU left, half and half, in whole hundredths of the largest
//! node.
//!
//! In the product, `reeve_core::schedule::packing` decides instead.

use super::data::{Cluster, Pod};

/// Free resources of one node.
#[derive(Debug, Clone)]
struct Free {
    cpu_milli: i64,
    memory_mib: i64,
    gpus: Vec<u16>,
    pods: u32,
    model: u8,
}

/// All nodes.
#[derive(Debug, Clone)]
pub struct BestFit {
    nodes: Vec<Free>,
    ties: Vec<u32>,
}

impl BestFit {
    #[must_use]
    pub fn new(cluster: &Cluster, ties: &[u32]) -> Self {
        let free = cluster.nodes.iter().map(|node| Free {
            cpu_milli: node.cpu_milli,
            memory_mib: node.memory_mib,
            gpus: vec![1_000; usize::from(node.gpus)],
            pods: 0,
            model: node.model,
        });
        Self { nodes: free.collect(), ties: ties.to_vec() }
    }

    /// Places a pod; false when it fits nowhere.
    pub fn place(&mut self, pod: &Pod) -> bool {
        let fitting = self.nodes.iter().enumerate().filter(|(_, node)| node.fits(pod));
        let best = fitting.min_by_key(|&(at, node)| (-node.score(pod), self.ties[at]));
        let Some(at) = best.map(|(at, _)| at) else { return false };
        self.nodes[at].take(pod);
        true
    }
}

impl Free {
    fn fits(&self, pod: &Pod) -> bool {
        let ask = &pod.ask;
        self.cpu_milli >= ask.cpu_milli
            && self.memory_mib >= pod.memory_mib
            && self.pods < super::replay::POD_SLOTS
            && (ask.gpus == 0
                || ask.models.has(self.model)
                    && self.gpus.iter().filter(|&&gap| gap >= ask.milli).count() >= usize::from(ask.gpus))
    }

    /// int(100 · (1 − ½ · cpu left / 128,000 − ½ · GPU left / 8,000)); exact in integers.
    fn score(&self, pod: &Pod) -> i64 {
        let gpu_left = self.gpus.iter().map(|&gap| i64::from(gap)).sum::<i64>() - pod.ask.gpu_milli();
        let left = self.cpu_milli - pod.ask.cpu_milli + 16 * gpu_left;
        (256_000 - left) / 2_560
    }

    fn take(&mut self, pod: &Pod) {
        let ask = &pod.ask;
        self.cpu_milli -= ask.cpu_milli;
        self.memory_mib -= pod.memory_mib;
        self.pods += 1;
        for _ in 0..ask.gpus {
            let fitting = self.gpus.iter_mut().filter(|gap| **gap >= ask.milli);
            if let Some(gap) = fitting.min_by_key(|gap| **gap) {
                *gap -= ask.milli;
            }
        }
    }
}
