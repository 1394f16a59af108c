//! One cost from the three views of a node.
//!
//! The weights were chosen on arrivals and tie orders other than the published ones (see the decision record on
//! packing). The cost is rounded down to tenths of a GPU: differences below are noise of the mix, and a fixed order
//! among equals fills some nodes before it opens others.

use super::mix::{Ask, Mix};
use super::potential::Potential;
use super::prices::prices;
use super::scarcity::scarcity;
use super::state::NodeState;
use super::usable::Usable;
use super::{Models, UNIT};

/// Potential lost counts this often.
const POTENTIAL_WEIGHT: i64 = 4;
/// What is left free afterwards, so that fuller nodes are filled first: value units for a thousandth of a GPU …
const LEFT_GPU_WEIGHT: i64 = UNIT / 160;
/// … and of a core.
const LEFT_CPU_WEIGHT: i64 = UNIT / 2_560;
/// A tenth of a GPU.
const ROUND: i64 = 100 * UNIT;
/// Whole GPUs on one node beyond which more of them are no better than single ones.
const WHOLE_LIMIT: usize = 64;

/// What the mix says about nodes.
#[derive(Debug, Clone)]
pub struct Scorer {
    usable: Usable,
    potential: Potential,
    scarcity_ppm: Vec<i64>,
}

impl Scorer {
    /// `capacity_milli` by model, all of the cluster; `largest_node` in GPUs.
    #[must_use]
    pub fn new(mix: &Mix, capacity_milli: &[i64], largest_node: usize) -> Self {
        let capacity = &capacity_milli[..capacity_milli.len().min(usize::from(Models::MOST))];
        let models = u8::try_from(capacity.len()).unwrap_or(Models::MOST).max(1);
        let whole_limit = largest_node.clamp(1, WHOLE_LIMIT);
        Self {
            usable: Usable::new(mix, models, whole_limit),
            potential: Potential::new(mix, &prices(mix), models, whole_limit),
            scarcity_ppm: scarcity(mix, capacity),
        }
    }

    /// What a state is worth to the mix. A search inside begins at `hint`, and gives back where it ended: any hint gives
    /// the same worth. A model beyond those that the scorer was made for counts as the last of them.
    pub(super) fn worth(&self, state: &NodeState, hint: usize) -> (i64, usize) {
        let (potential, hint) = self.potential.of(state, hint);
        (self.usable.of(state) + POTENTIAL_WEIGHT * potential, hint)
    }

    /// The cost of going from a state worth `before` to `after` by this request; lower is better.
    pub(super) fn cost(&self, before: (i64, usize), after: &NodeState, ask: &Ask) -> i32 {
        let lost = before.0 - self.worth(after, before.1).0 - ask.gpu_milli() * UNIT;
        let sought =
            self.scarcity_ppm.get(usize::from(after.model())).copied().unwrap_or(0) * ask.gpu_milli();
        let left = LEFT_GPU_WEIGHT * after.free_milli() + LEFT_CPU_WEIGHT * after.cpu_milli();
        let cost = (lost + sought + left).div_euclid(ROUND);
        i32::try_from(cost).unwrap_or(if cost < 0 { i32::MIN } else { i32::MAX })
    }
}
