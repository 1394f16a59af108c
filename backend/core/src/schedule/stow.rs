//! Placement by the mix (`placement: mix`): a job of one member goes where the pool's requests, as they run and wait now,
//! lose least of what is free ([`super::packing`]).
//!
//! Gangs go by best fit, which keeps them together, and so does whatever the packing knows nothing of: nodes with several
//! models. It places on the open view alone: victims are chosen by other things than packing. Nothing here decides
//! whether a job may start.

use super::fit;
use super::packing::{Ask, Index, Mix, Models, NodeState, Packer, Scorer};
use super::problem::{Class, Hold, Problem, Slice};
use super::space::View;
use crate::job::GpuAsk;
use smallvec::smallvec;

/// One pool's nodes in order of cost, for each class that was asked for.
#[derive(Debug)]
struct Stow {
    index: Index,
    models: Vec<String>,
}

/// All pools that were asked for so far.
#[derive(Debug, Default)]
pub(super) struct Stows {
    /// By pool; `None` inside: the packing does not know such a pool.
    of: Vec<Option<Option<Stow>>>,
}

impl Stows {
    /// Whether this module places the class at all.
    pub(super) fn knows(class: &Class) -> bool {
        class.members == 1 && class.require.is_none()
    }

    /// The cheapest place; the outer `None` = ask elsewhere.
    pub(super) fn place(
        &mut self,
        problem: &Problem<'_>,
        view: &mut View,
        class: &Class,
        pool: usize,
    ) -> Option<Option<Vec<Hold>>> {
        if self.of.is_empty() {
            self.of.resize_with(problem.pools.len(), || None);
            // Whatever moved before is in what each pool begins with.
            view.take_stirred();
        }
        for node in view.take_stirred() {
            if let Some(Some(stow)) = &mut self.of[problem.nodes[node].pool] {
                stow.set(problem, view, node);
            }
        }
        let stow = self.of[pool].get_or_insert_with(|| Stow::new(problem, view, pool)).as_mut()?;
        let ask = stow.index.ask(ask(class, &stow.models));
        let nodes = &problem.pool_nodes[pool];
        let fits =
            |at: usize| class.node_ok[nodes[at]] && fit::capacity(problem, view, class, nodes[at], 1) > 0;
        let Some((at, choice)) = stow.index.choose(ask, fits) else { return Some(None) };
        Some(Some(vec![hold(problem, view, class, nodes[at], choice.gap)?]))
    }
}

impl Stow {
    fn new(problem: &Problem<'_>, view: &View, pool: usize) -> Option<Self> {
        let nodes = &problem.pool_nodes[pool];
        if nodes.iter().any(|&node| problem.nodes[node].is_mixed) {
            return None;
        }
        let mut models: Vec<String> = nodes.iter().filter_map(|&node| model_of(problem, node)).collect();
        models.sort_unstable();
        models.dedup();
        let mut members = vec![0_u32; problem.classes.len()];
        for row in problem.jobs.iter().filter(|row| row.pools.contains(&pool)) {
            members[row.class] = members[row.class].saturating_add(problem.classes[row.class].members);
        }
        let requests = problem.classes.iter().zip(members).map(|(class, count)| (ask(class, &models), count));
        let mut capacity = vec![0; models.len()];
        for &node in nodes.iter().filter(|&&node| problem.nodes[node].exists()) {
            if let Some(model) = number_of(problem, node, &models) {
                capacity[usize::from(model)] += 1_000 * problem.nodes[node].gpu_count as i64;
            }
        }
        let largest = nodes.iter().map(|&node| problem.nodes[node].gpu_count).max().unwrap_or(0);
        let scorer = Scorer::new(&Mix::new(requests), &capacity, largest);
        let states = nodes.iter().zip(0..).map(|(&node, tie)| (state(problem, view, node, &models), tie));
        Some(Self { index: Index::new(Packer::new(scorer), states), models })
    }

    fn set(&mut self, problem: &Problem<'_>, view: &View, node: usize) {
        if let Ok(at) = problem.pool_nodes[problem.nodes[node].pool].binary_search(&node) {
            self.index.set(at, &state(problem, view, node, &self.models));
        }
    }
}

fn model_of(problem: &Problem<'_>, node: usize) -> Option<String> {
    problem.nodes[node].gpus().next().map(|gpu| problem.gpus[gpu].model.to_owned())
}

fn number_of(problem: &Problem<'_>, node: usize, models: &[String]) -> Option<u8> {
    let first = problem.nodes[node].gpus().next()?;
    let at = models.binary_search_by(|known| known.as_str().cmp(problem.gpus[first].model)).ok()?;
    Some(u8::try_from(at).unwrap_or(Models::MOST).min(Models::MOST - 1))
}

fn ask(class: &Class, models: &[String]) -> Ask {
    let (gpus, milli) = match class.shape.gpus {
        GpuAsk::None => (0, 0),
        GpuAsk::Whole { gpus } => (gpus, 1_000),
        GpuAsk::Share { devices, milli, .. } => (devices, milli.0),
    };
    let only = class.model.as_ref().and_then(|model| models.binary_search(model).ok());
    Ask {
        cpu_milli: class.shape.cpu.0.max(0),
        gpus: u16::try_from(gpus).unwrap_or(u16::MAX),
        milli: u16::try_from(milli).unwrap_or(1_000),
        models: only.map_or(Models::ANY, |at| Models::only(u8::try_from(at).unwrap_or(u8::MAX))),
    }
}

/// What of a GPU counts as free: all of it only where its memory is free too.
fn gap(problem: &Problem<'_>, view: &View, gpu: usize) -> u16 {
    let most = if view.is_whole(problem, gpu) { 1_000 } else { 999 };
    u16::try_from(view.gpu_milli[gpu].clamp(0, most)).unwrap_or(0)
}

fn state(problem: &Problem<'_>, view: &View, node: usize, models: &[String]) -> NodeState {
    let gaps = problem.nodes[node].gpus().map(|card| gap(problem, view, card));
    NodeState::new(number_of(problem, node, models).unwrap_or(0), view.cpu[node], gaps)
}

/// On the node: a share goes to the first card with that gap and enough memory, everything else as best fit puts it.
fn hold(problem: &Problem<'_>, view: &View, class: &Class, node: usize, chosen: u16) -> Option<Hold> {
    if let GpuAsk::Share { devices: 1, milli, memory } = class.shape.gpus {
        let fits = |card: &usize| {
            gap(problem, view, *card) == chosen
                && view.gpu_milli[*card] >= milli.0
                && view.gpu_memory[*card] >= memory.0
        };
        if let Some(gpu) = problem.nodes[node].gpus().find(fits) {
            let slices = smallvec![Slice { gpu, milli: milli.0, memory: memory.0 }];
            return Some(Hold { node, slices, cpu: class.shape.cpu.0, memory: class.shape.memory.0 });
        }
    }
    fit::pack(problem, view, class, node, 1).pop()
}
