//! How much of what is free on a node the typical mix can use, on average over its requests: all that is free, less
//! the fragmentation `F` of the FGD paper (ATC'23, section 4): a request that the node cannot host uses nothing, one
//! that it can host uses every gap that is large enough for it.
//!
//! This module does not ask what would be left afterwards: `potential` does.

use super::mix::{Ask, Mix};
use super::state::NodeState;
use super::{BUCKETS, ask_bucket, gap_bucket};

/// Parts per million of the typical mix, cumulated over what a node can host.
#[derive(Debug, Clone)]
pub(super) struct Usable {
    /// CPU asked for by typical requests, ascending, each once.
    cpu_steps: Vec<i64>,
    /// By model, CPU step and gap: requests for one GPU or a share of one that fit.
    single: Vec<i64>,
    /// By model, CPU step and whole GPUs: requests for several GPUs that fit.
    several: Vec<i64>,
    whole_limit: usize,
    last_model: usize,
}

impl Usable {
    pub(super) fn new(mix: &Mix, models: u8, whole_limit: usize) -> Self {
        let typical = mix.typical();
        let all: i64 = typical.iter().map(|&(_, ppm)| ppm).sum::<i64>().max(1);
        let mut cpu_steps: Vec<i64> = typical.iter().map(|(ask, _)| ask.cpu_milli).collect();
        cpu_steps.sort_unstable();
        cpu_steps.dedup();
        let last_model = usize::from(models) - 1;
        let mut table = Self { cpu_steps, single: Vec::new(), several: Vec::new(), whole_limit, last_model };
        for model in 0..models {
            for step in 0..=table.cpu_steps.len() {
                let hosted = |ask: &Ask| {
                    step > 0 && ask.cpu_milli <= table.cpu_steps[step - 1] && ask.models.has(model)
                };
                let mut single = [0_i64; BUCKETS + 1];
                let mut several = vec![0_i64; whole_limit + 1];
                for (ask, ppm) in typical.iter().filter(|(ask, _)| hosted(ask)) {
                    let ppm = ppm * 1_000_000 / all;
                    match ask.gpus {
                        0 => {}
                        1 => single[ask_bucket(ask.milli)] += ppm,
                        // Shares of several GPUs are rare enough to be counted as whole ones.
                        gpus => several[usize::from(gpus).min(whole_limit)] += ppm,
                    }
                }
                cumulate(&mut single);
                cumulate(&mut several);
                table.single.extend_from_slice(&single);
                table.several.extend_from_slice(&several);
            }
        }
        table
    }

    /// In value units.
    pub(super) fn of(&self, state: &NodeState) -> i64 {
        let step = self.cpu_steps.partition_point(|&cpu| cpu <= state.cpu_milli());
        let row = usize::from(state.model()).min(self.last_model) * (self.cpu_steps.len() + 1) + step;
        let single = &self.single[row * (BUCKETS + 1)..][..=BUCKETS];
        let whole = state.whole();
        let by_gap: i64 = state.gaps().iter().map(|&gap| i64::from(gap) * single[gap_bucket(gap)]).sum();
        let several = self.several[row * (self.whole_limit + 1) + whole.min(self.whole_limit)];
        by_gap + whole as i64 * 1_000 * several
    }
}

fn cumulate(counts: &mut [i64]) {
    for at in 1..counts.len() {
        counts[at] += counts[at - 1];
    }
}
