//! Node losses and returns, drawn from a seed before the clock starts.
//!
//! Times between losses are exponential, as independent failures are; repairs take a fixed time. This module breaks
//! nodes only: what becomes of the jobs on them is the engine's.

use crate::event::{Event, Queue};
use crate::workload::Micros;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// How often a node is lost, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    pub seed: u64,
    /// Mean time between the losses of one node.
    pub every: Micros,
    pub repair: Micros,
}

impl Faults {
    pub(crate) fn plan(&self, nodes: usize, until: Micros, queue: &mut Queue) {
        let mut random = StdRng::seed_from_u64(self.seed);
        for node in 0..nodes {
            let mut at = self.draw(&mut random);
            while at < until {
                queue.add(at, Event::Node { node, lost: true });
                queue.add(at + self.repair.max(1), Event::Node { node, lost: false });
                at += self.repair.max(1) + self.draw(&mut random);
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "bounded by 40 means")]
    fn draw(&self, random: &mut StdRng) -> Micros {
        let part: f64 = random.random_range(f64::MIN_POSITIVE..1.0);
        ((-part.ln()).min(40.0) * self.every as f64) as Micros + 1
    }
}
