//! What can never start, whatever the others do: judged on the empty pool and on the quotas as set.
//!
//! This module knows nothing of what runs.

use super::fit::{self, Among, Budget};
use super::ledger::MostBy;
use super::problem::Problem;
use super::space::View;
use super::state::State;
use crate::job::GpuAsk;
use crate::reason::{Help, Obstacle, ReasonCode};
use crate::units::MilliGpu;
use std::collections::BTreeMap;

const EMPTY_STEPS: u64 = 200_000;

/// Numbers by name. GPUs where all are whole, else the name ends in `_milli`.
pub(super) fn gpu_numbers(pairs: &[(&str, i64)]) -> BTreeMap<String, i64> {
    let whole = pairs.iter().all(|&(_, milli)| milli % 1_000 == 0);
    let name = |name: &str| if whole { name.to_owned() } else { format!("{name}_milli") };
    pairs.iter().map(|&(text, milli)| (name(text), if whole { milli / 1_000 } else { milli })).collect()
}

pub(super) fn obstacle(code: ReasonCode, detail: Option<&str>, numbers: BTreeMap<String, i64>) -> Obstacle {
    Obstacle { code, detail: detail.map(str::to_owned), numbers }
}

/// GPUs, rounded up.
pub(super) fn ceil_gpus(milli: i64) -> i64 {
    MilliGpu(milli + 999).floor_gpus()
}

type Bound = Option<(Obstacle, Help)>;

/// Answers that hold for the whole plan, each worked out once.
#[derive(Debug)]
pub(super) struct Bounds {
    empty: View,
    never: BTreeMap<(usize, usize), Bound>,
    out_of_service: BTreeMap<(usize, usize), bool>,
}

impl Bounds {
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        Self { empty: View::empty(problem), never: BTreeMap::new(), out_of_service: BTreeMap::new() }
    }

    /// Whether the job could start in at least one of its pools, were nobody else there.
    pub(super) fn can_ever(&mut self, state: &State<'_, '_>, job: usize) -> bool {
        let pools = &state.problem.jobs[job].pools;
        pools.iter().any(|&pool| {
            self.never_fits(state.problem, job, pool).is_none() && over_cap(state, job, pool).is_none()
        })
    }

    /// The gang does not fit the pool even when it is empty.
    pub(super) fn never_fits(&mut self, problem: &Problem<'_>, job: usize, pool: usize) -> Bound {
        let class = problem.jobs[job].class;
        if let Some(known) = self.never.get(&(class, pool)) {
            return known.clone();
        }
        let answer = self.try_empty(problem, class, pool);
        self.never.insert((class, pool), answer.clone());
        answer
    }

    /// The gang fits the pool, but not on those nodes that take work now.
    pub(super) fn nodes_take_no_work(&mut self, problem: &Problem<'_>, job: usize, pool: usize) -> bool {
        let class = problem.jobs[job].class;
        if let Some(&known) = self.out_of_service.get(&(class, pool)) {
            return known;
        }
        let mut budget = Budget::new(EMPTY_STEPS);
        let row = &problem.classes[class];
        let found = fit::place(problem, &self.empty, row, pool, row.members, Among::Working, &mut budget);
        let answer = matches!(found, Ok(None));
        self.out_of_service.insert((class, pool), answer);
        answer
    }

    fn try_empty(&self, problem: &Problem<'_>, class: usize, pool: usize) -> Bound {
        let class = &problem.classes[class];
        let mut budget = Budget::new(EMPTY_STEPS);
        let fits = |members: u32, budget: &mut Budget| {
            let found = fit::place(problem, &self.empty, class, pool, members, Among::Existing, budget);
            !matches!(found, Ok(None))
        };
        if fits(class.members, &mut budget) {
            return None;
        }
        let nodes = &problem.pool_nodes[pool];
        let most = |node: &usize| {
            if class.node_could[*node] {
                fit::capacity(problem, &self.empty, class, *node, class.members)
            } else {
                0
            }
        };
        let best_node = nodes
            .iter()
            .filter(|&&node| class.node_could[node])
            .map(|&node| self.empty.whole[node])
            .max()
            .unwrap_or(0);
        let replicas: u32 = nodes.iter().map(most).fold(0, u32::saturating_add).min(class.members);
        let mut numbers =
            gpu_numbers(&[("asks", class.shape.gpus.milli().0), ("best_node", 1_000 * i64::from(best_node))]);
        numbers.insert("replicas".to_owned(), class.members.into());
        numbers.insert("replicas_that_fit".to_owned(), replicas.into());
        let best_place = fit::most_in_one_place(problem, &self.empty, class, pool, Among::Existing);
        if let Some(replicas) = best_place {
            numbers.insert("replicas_in_best_place".to_owned(), replicas.into());
        }
        let (detail, help) = match class.shape.gpus {
            _ if replicas >= class.members => (
                Some(if best_place.is_some() { "topology" } else { "unknown_topology_level" }),
                fewer(best_place),
            ),
            _ if replicas > 0 => (Some("replicas"), Help::AskForFewerReplicas { replicas: replicas.into() }),
            GpuAsk::Whole { gpus } if gpus > best_node && best_node > 0 => {
                (Some("gpus"), Help::AskForFewerGpus { gpus: best_node.into() })
            }
            _ if class.linked => (Some("nvlink"), Help::Wait),
            _ => (None, Help::Wait),
        };
        Some((obstacle(ReasonCode::NeverFits, detail, numbers), help))
    }
}

/// As many as the best place has room for.
pub(super) fn fewer(best_place: Option<u32>) -> Help {
    match best_place {
        Some(replicas) if replicas > 0 => Help::AskForFewerReplicas { replicas: replicas.into() },
        _ => Help::Wait,
    }
}

/// The request is above what quotas and limits could ever give.
pub(super) fn over_cap(state: &State<'_, '_>, job: usize, pool: usize) -> Bound {
    let row = &state.problem.jobs[job];
    let (Some(team), asks) = (row.team, row.base_milli) else { return None };
    let found = |detail: &str, cap: i64| {
        let help = Help::RaiseQuota { gpus: ceil_gpus(asks - cap) };
        Some((
            obstacle(ReasonCode::OverCap, Some(detail), gpu_numbers(&[("asks", asks), ("cap", cap)])),
            help,
        ))
    };
    if asks == 0 {
        return None;
    }
    if row.base_inside_only {
        let most = state.most_never(job, pool);
        if asks > most {
            return found("never_evicted_beyond_guarantee", most);
        }
    }
    let queue = row.queue.map(|queue| state.problem.queues[queue]);
    if let Some(limit) = queue.and_then(|queue| queue.max_running_gpus)
        && asks > limit.0
    {
        return found("queue_max_running_gpus", limit.0);
    }
    let (most, by) = state.limits[pool].most(&state.tree, team);
    match by {
        _ if asks <= most => None,
        MostBy::Cap(node) if node == team => found("team_cap", most),
        MostBy::Cap(_) => found("parent_cap", most),
        MostBy::Lending => found("lendable", most),
    }
}
