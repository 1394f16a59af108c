//! P7 and P12: the same input gives the same output, and neither names nor the order of rows decide.

use super::super::SplitMix;
use super::violation;
use crate::schedule::check::Violation;
use crate::schedule::plan::Plan;
use crate::schedule::snapshot::Snapshot;

pub(super) fn decide(
    state: &Snapshot,
    plan: &Plan,
    planner: &impl Fn(&Snapshot) -> Plan,
    seed: u64,
) -> Option<Violation> {
    if planner(state) != *plan {
        return Some(violation("planned_in_two_ways", "the same state gives two plans"));
    }
    let other = planner(&renamed_and_shuffled(state, seed));
    (other != *plan).then(|| violation("names_decide", "names or the order of rows changed the plan"))
}

fn renamed_and_shuffled(snapshot: &Snapshot, seed: u64) -> Snapshot {
    let mut other = snapshot.clone();
    let mut rng = SplitMix::new(seed ^ 0xABCD);
    let name = |rng: &mut SplitMix| format!("x{}", rng.draw());
    other.teams.iter_mut().for_each(|team| team.slug = name(&mut rng));
    other.pools.iter_mut().for_each(|pool| pool.slug = name(&mut rng));
    other.queues.iter_mut().for_each(|queue| queue.slug = name(&mut rng));
    for job in &mut other.jobs {
        job.name = name(&mut rng);
        shuffle(&mut job.members, &mut rng);
        job.members.iter_mut().for_each(|member| shuffle(&mut member.gpus, &mut rng));
    }
    for node in &mut other.nodes {
        node.name = name(&mut rng);
        shuffle(&mut node.gpus, &mut rng);
        shuffle(&mut node.nvlink, &mut rng);
    }
    shuffle(&mut other.teams, &mut rng);
    shuffle(&mut other.jobs, &mut rng);
    shuffle(&mut other.nodes, &mut rng);
    shuffle(&mut other.quotas, &mut rng);
    shuffle(&mut other.queues, &mut rng);
    shuffle(&mut other.pools, &mut rng);
    shuffle(&mut other.nominations, &mut rng);
    shuffle(&mut other.rebalance_evictions_last_hour, &mut rng);
    shuffle(&mut other.consolidation_moves_last_hour, &mut rng);
    other
}

fn shuffle<T>(items: &mut [T], rng: &mut SplitMix) {
    for index in (1..items.len()).rev() {
        let below = u32::try_from(index).unwrap_or(u32::MAX - 1) + 1;
        items.swap(index, rng.below(below) as usize);
    }
}
