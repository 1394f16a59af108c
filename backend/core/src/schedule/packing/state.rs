//! The free state of one node, as far as packing cares.
//!
//! This module knows no node: two nodes with the same free CPU, gaps and model are one state.

use super::mix::Ask;

/// Free CPU and what is free of each GPU.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodeState {
    model: u8,
    cpu_milli: i64,
    /// Ascending.
    gaps: Vec<u16>,
}

impl NodeState {
    /// Most CPU that counts: beyond it, scores could overflow.
    const MOST_CPU: i64 = 1_000_000_000;
    /// Most GPUs that count.
    const MOST_GPUS: usize = 1_024;

    /// A node with `gaps` thousandths free on each of its GPUs, in any order. Negative amounts are nothing.
    #[must_use]
    pub fn new(model: u8, cpu_milli: i64, gaps: impl IntoIterator<Item = u16>) -> Self {
        let mut gaps: Vec<u16> = gaps.into_iter().take(Self::MOST_GPUS).map(|gap| gap.min(1_000)).collect();
        gaps.sort_unstable();
        Self { model, cpu_milli: cpu_milli.clamp(0, Self::MOST_CPU), gaps }
    }

    #[must_use]
    pub const fn model(&self) -> u8 {
        self.model
    }

    #[must_use]
    pub const fn cpu_milli(&self) -> i64 {
        self.cpu_milli
    }

    /// What is free of each GPU, ascending.
    #[must_use]
    pub fn gaps(&self) -> &[u16] {
        &self.gaps
    }

    /// GPUs that are wholly free.
    #[must_use]
    pub fn whole(&self) -> usize {
        self.gaps.len() - self.gaps.partition_point(|&gap| gap < 1_000)
    }

    #[must_use]
    pub fn free_milli(&self) -> i64 {
        self.gaps.iter().map(|&gap| i64::from(gap)).sum()
    }

    /// Whether the request fits at all.
    #[must_use]
    pub fn fits(&self, ask: &Ask) -> bool {
        let gpus = usize::from(ask.gpus);
        self.cpu_milli >= ask.cpu_milli
            && (gpus == 0
                || (ask.models.has(self.model)
                    && gpus <= self.gaps.len()
                    && self.gaps[self.gaps.len() - gpus] >= ask.milli))
    }

    /// The gaps that a request could go to, each once: a share of one GPU has a choice, everything else takes the
    /// tightest GPUs that fit. Empty when it does not fit; `[0]` for CPU only.
    pub(super) fn options(&self, ask: &Ask, into: &mut Vec<u16>) {
        into.clear();
        if !self.fits(ask) {
            return;
        }
        if ask.gpus == 0 {
            into.push(0);
        } else if ask.gpus == 1 && ask.is_share() {
            let first = self.gaps.partition_point(|&gap| gap < ask.milli);
            into.extend_from_slice(&self.gaps[first..]);
            into.dedup();
        } else {
            into.push(self.gaps[self.gaps.partition_point(|&gap| gap < ask.milli)]);
        }
    }

    /// Writes the state after the request went to `gap` into `after`.
    pub(super) fn place_into(&self, ask: &Ask, gap: u16, after: &mut Self) {
        after.model = self.model;
        after.cpu_milli = self.cpu_milli - ask.cpu_milli;
        after.gaps.clear();
        after.gaps.extend_from_slice(&self.gaps);
        let gpus = usize::from(ask.gpus);
        if gpus > 0 {
            let first = self.gaps.partition_point(|&free| free < gap);
            for free in &mut after.gaps[first..first + gpus] {
                *free -= ask.milli;
            }
            after.gaps.sort_unstable();
        }
    }
}
