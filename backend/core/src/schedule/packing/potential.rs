//! The most that the mix could still be worth on a node, at given prices of sizes, with its free CPU shared out freely
//! among its GPUs.
//!
//! By Lagrangian duality: the least, over prices of CPU, of the free CPU's price plus what each gap is worth when its
//! requests pay for their CPU. Prices of CPU come from a fixed grid, on which this sum is convex; so the least is found
//! by walking downhill from anywhere. The grid starts above zero: CPU is never free, since CPU-only requests want it too.
//!
//! Whole GPUs are worth more together when requests for several pay for it.

use super::mix::{Ask, Mix};
use super::prices::Prices;
use super::state::NodeState;
use super::{BUCKETS, ask_bucket, gap_bucket};

const CPU_PRICES: usize = 48;
/// Value units for a thousandth of a core.
const FIRST_CPU_PRICE: i64 = 3_000;
const FIRST_CPU_STEP: i64 = 2_000;
const CPU_STEP_GROWTH_PERCENT: i64 = 108;

#[derive(Debug, Clone)]
pub(super) struct Potential {
    cpu_prices: Vec<i64>,
    /// By model, price of CPU, and gap.
    gap: Vec<i64>,
    /// By model, price of CPU, and number of whole GPUs.
    whole: Vec<i64>,
    whole_limit: usize,
    last_model: usize,
}

impl Potential {
    pub(super) fn new(mix: &Mix, prices: &Prices, models: u8, whole_limit: usize) -> Self {
        let mut cpu_prices = vec![FIRST_CPU_PRICE];
        let (mut price, mut step) = (FIRST_CPU_PRICE, FIRST_CPU_STEP);
        for _ in 1..CPU_PRICES {
            price += step;
            step = step * CPU_STEP_GROWTH_PERCENT / 100;
            cpu_prices.push(price);
        }
        let mut table = Self {
            cpu_prices,
            gap: Vec::new(),
            whole: Vec::new(),
            whole_limit,
            last_model: usize::from(models) - 1,
        };
        for model in 0..models {
            for at in 0..CPU_PRICES {
                let cpu_price = table.cpu_prices[at];
                let wanted = |ask: &Ask| ask.gpus > 0 && ask.models.has(model);
                let worth = |ask: &Ask| {
                    let gpus = i64::from(ask.gpus) * prices[ask_bucket(ask.milli)];
                    gpus - cpu_price.saturating_mul(ask.cpu_milli)
                };
                let asks = mix.asks().iter().map(|(ask, _)| ask).filter(|ask| wanted(ask));
                let offers: Vec<(&Ask, i64)> =
                    asks.map(|ask| (ask, worth(ask))).filter(|&(_, worth)| worth > 0).collect();
                let gap = worth_of_gaps(&offers);
                table.whole.extend(worth_of_whole(&offers, gap[BUCKETS], whole_limit));
                table.gap.extend_from_slice(&gap);
            }
        }
        table
    }

    /// In value units, with the price of CPU at which it is least; the search begins at `start`, which changes how long
    /// it takes and never what it finds.
    pub(super) fn of(&self, state: &NodeState, start: usize) -> (i64, usize) {
        let row = usize::from(state.model()).min(self.last_model) * CPU_PRICES;
        let whole = state.whole();
        let partial = &state.gaps()[..state.gaps().len() - whole];
        let at_price = |at: usize| {
            let gaps = &self.gap[(row + at) * (BUCKETS + 1)..][..=BUCKETS];
            let partial: i64 = partial.iter().map(|&gap| gaps[gap_bucket(gap)]).sum();
            let wholes = &self.whole[(row + at) * (self.whole_limit + 1)..][..=self.whole_limit];
            // Beyond the limit each further GPU is worth as much as one alone.
            let beyond = whole.saturating_sub(self.whole_limit) as i64 * gaps[BUCKETS];
            self.cpu_prices[at] * state.cpu_milli() + partial + wholes[whole.min(self.whole_limit)] + beyond
        };
        let mut at = start.min(CPU_PRICES - 1);
        let mut least = at_price(at);
        while at > 0 {
            let below = at_price(at - 1);
            if below > least {
                break;
            }
            (at, least) = (at - 1, below);
        }
        while at + 1 < CPU_PRICES {
            let above = at_price(at + 1);
            if above >= least {
                break;
            }
            (at, least) = (at + 1, above);
        }
        (least, at)
    }
}

/// By gap, the most that requests for one GPU or a share of one are worth in it together.
fn worth_of_gaps(offers: &[(&Ask, i64)]) -> [i64; BUCKETS + 1] {
    let mut best = [0_i64; BUCKETS + 1];
    for (ask, worth) in offers.iter().filter(|(ask, _)| ask.gpus == 1) {
        let bucket = ask_bucket(ask.milli);
        best[bucket] = best[bucket].max(*worth);
    }
    let sizes: Vec<(usize, i64)> = (1..=BUCKETS).map(|size| (size, best[size])).filter(|s| s.1 > 0).collect();
    let mut worth = [0_i64; BUCKETS + 1];
    for room in 1..=BUCKETS {
        worth[room] = worth[room - 1];
        for &(size, value) in sizes.iter().take_while(|&&(size, _)| size <= room) {
            worth[room] = worth[room].max(worth[room - size] + value);
        }
    }
    worth
}

/// By number of whole GPUs, the most that they are worth together.
fn worth_of_whole(offers: &[(&Ask, i64)], alone: i64, limit: usize) -> Vec<i64> {
    let mut worth = vec![0_i64; limit + 1];
    for free in 1..=limit {
        worth[free] = worth[free - 1] + alone;
        for (ask, value) in offers.iter().filter(|(ask, _)| ask.gpus > 1) {
            if let Some(rest) = free.checked_sub(usize::from(ask.gpus)) {
                worth[free] = worth[free].max(worth[rest] + value);
            }
        }
    }
    worth
}
