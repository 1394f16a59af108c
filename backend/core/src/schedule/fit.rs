//! Where a gang fits: all members on concrete GPUs, or nothing.
//!
//! Packing is best fit: the node left with the fewest whole GPUs, the tightest GPU for a share, the
//! smallest NVLink domain that suffices, the fewest nodes for a gang. Whole pools are searched by the
//! view's index, which must be settled. This module evicts nobody and knows no quota.

use super::cards::Cards;
use super::problem::{Class, Hold, Problem};
use super::space::View;
use crate::job::GpuAsk;
use std::cmp::Reverse;

/// A search ran out of steps: the answer is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutOfBudget;

/// Steps left: one step looks at one node.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    left: u64,
}

impl Budget {
    pub(super) const fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    /// Up to `most` of the steps, for one search of many.
    pub(super) fn lend(&mut self, most: u64) -> Self {
        let left = most.min(self.left);
        self.left -= left;
        Self { left }
    }

    pub(super) const fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// What a search did not need.
    pub(super) const fn give_back(&mut self, rest: &Self) {
        self.left += rest.left;
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), OutOfBudget> {
        let steps = steps as u64;
        if self.left < steps {
            self.left = 0;
            return Err(OutOfBudget);
        }
        self.left -= steps;
        Ok(())
    }
}

/// Which nodes count for a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    /// Nodes that take work.
    Working,
    /// Nodes that could, were they repaired and uncordoned.
    Existing,
}

fn node_mask(class: &Class, among: Among) -> &[bool] {
    match among {
        Among::Working => &class.node_ok,
        Among::Existing => &class.node_could,
    }
}

/// Places `members` members of a class in a pool, honouring its topology wishes.
pub(super) fn place(
    problem: &Problem<'_>,
    view: &View,
    class: &Class,
    pool: usize,
    members: u32,
    among: Among,
    budget: &mut Budget,
) -> Result<Option<Vec<Hold>>, OutOfBudget> {
    if let Some(level) = &class.require {
        return place_in_one_place(problem, view, class, (pool, level), members, among, budget);
    }
    if let Some(level) = &class.prefer
        && members > 1
        && let Some(holds) = place_in_one_place(problem, view, class, (pool, level), members, among, budget)?
    {
        return Ok(Some(holds));
    }
    place_anywhere(problem, view, class, pool, members, among, budget)
}

/// The same without topology wishes: what a topology reason is measured against.
pub(super) fn place_anywhere(
    problem: &Problem<'_>,
    view: &View,
    class: &Class,
    pool: usize,
    members: u32,
    among: Among,
    budget: &mut Budget,
) -> Result<Option<Vec<Hold>>, OutOfBudget> {
    let (cpu, memory) = (class.shape.cpu.0, class.shape.memory.0);
    let with_room = |whole: u32| view.rooms(pool).with_whole(whole, cpu, memory);
    match class.shape.gpus {
        GpuAsk::Share { devices, milli, .. } if members == 1 => {
            place_one_share(problem, view, class, (pool, devices as usize, milli.0), among, budget)
        }
        GpuAsk::Share { .. } => {
            place_on(problem, view, class, &problem.pool_nodes[pool], members, among, budget)
        }
        GpuAsk::None | GpuAsk::Whole { .. } if members == 1 => {
            place_one_whole(problem, view, class, pool, among, budget)
        }
        GpuAsk::None => {
            place_on(problem, view, class, &with_room(0).collect::<Vec<_>>(), members, among, budget)
        }
        GpuAsk::Whole { gpus } => {
            budget.spend(1)?;
            if view.rooms(pool).most_members(gpus) < u64::from(members) {
                return Ok(None);
            }
            place_on(problem, view, class, &with_room(gpus).collect::<Vec<_>>(), members, among, budget)
        }
    }
}

fn place_in_one_place(
    problem: &Problem<'_>,
    view: &View,
    class: &Class,
    (pool, level): (usize, &str),
    members: u32,
    among: Among,
    budget: &mut Budget,
) -> Result<Option<Vec<Hold>>, OutOfBudget> {
    let Some(places) = problem.places.get(&(pool, level)) else { return Ok(None) };
    let mut tightest: Option<(u32, Vec<Hold>)> = None;
    for nodes in places {
        let free: u32 = nodes.iter().map(|&node| view.whole[node]).sum();
        if tightest.as_ref().is_some_and(|(least, _)| *least <= free) {
            continue;
        }
        if let Some(holds) = place_on(problem, view, class, nodes, members, among, budget)? {
            tightest = Some((free, holds));
        }
    }
    Ok(tightest.map(|(_, holds)| holds))
}

/// The most members of a class that one place of its required level has room for, at most all of them; `None` where it
/// requires no level.
pub(super) fn most_in_one_place(
    problem: &Problem<'_>,
    view: &View,
    class: &Class,
    pool: usize,
    among: Among,
) -> Option<u32> {
    let level = class.require.as_deref()?;
    let mask = node_mask(class, among);
    let in_place = |nodes: &Vec<usize>| {
        let usable = nodes.iter().filter(|&&node| mask[node]);
        let room = usable.map(|&node| capacity(problem, view, class, node, class.members));
        room.fold(0, u32::saturating_add).min(class.members)
    };
    let places = problem.places.get(&(pool, level))?;
    Some(places.iter().map(in_place).max().unwrap_or(0))
}

/// One member on whole GPUs (or none): the first node with the fewest whole GPUs that suffice.
fn place_one_whole(
    problem: &Problem<'_>,
    view: &View,
    class: &Class,
    pool: usize,
    among: Among,
    budget: &mut Budget,
) -> Result<Option<Vec<Hold>>, OutOfBudget> {
    let mask = node_mask(class, among);
    let shape = class.shape;
    for node in view.rooms(pool).with_whole(shape.gpus.devices(), shape.cpu.0, shape.memory.0) {
        budget.spend(1)?;
        if mask[node]
            && let Some(hold) = pack(problem, view, class, node, 1).pop()
        {
            return Ok(Some(vec![hold]));
        }
    }
    Ok(None)
}

/// One member on parts of cards: on cards in use where these suffice, else on the node where the fewest
/// whole ones are broken; of these the one with the fewest whole GPUs, then the least free share.
fn place_one_share(
    problem: &Problem<'_>,
    view: &View,
    class: &Class,
    (pool, devices, milli): (usize, usize, i64),
    among: Among,
    budget: &mut Budget,
) -> Result<Option<Vec<Hold>>, OutOfBudget> {
    let mask = node_mask(class, among);
    let rooms = view.rooms(pool);
    let cards = |node: usize| {
        if mask[node] && host_capacity(view, class, node, 1) > 0 {
            cards_for_one(problem, view, class, node)
        } else {
            (0, 0)
        }
    };
    for node in rooms.with_part(milli) {
        budget.spend(1)?;
        if cards(node).1 >= devices {
            return Ok(Some(pack(problem, view, class, node, 1)));
        }
    }
    let mut best: Option<(usize, usize)> = None;
    for node in rooms.by_share(1) {
        budget.spend(1)?;
        let (all, used) = cards(node);
        let broken = devices.saturating_sub(used);
        if all >= devices && best.is_none_or(|(least, _)| broken < least) {
            best = Some((broken, node));
            if broken <= 1 {
                break;
            }
        }
    }
    Ok(best.map(|(_, node)| pack(problem, view, class, node, 1)))
}

/// Members on the fewest of the given nodes; the last of them as tight as possible.
pub(super) fn place_on(
    problem: &Problem<'_>,
    view: &View,
    class: &Class,
    nodes: &[usize],
    members: u32,
    among: Among,
    budget: &mut Budget,
) -> Result<Option<Vec<Hold>>, OutOfBudget> {
    budget.spend(nodes.len())?;
    let mask = node_mask(class, among);
    let mut room: Vec<(u32, u32, usize)> = nodes
        .iter()
        .filter(|&&node| mask[node])
        .map(|&node| (capacity(problem, view, class, node, members), view.whole[node], node))
        .filter(|&(fits, _, _)| fits > 0)
        .collect();
    if room.iter().map(|&(fits, _, _)| u64::from(fits)).sum::<u64>() < u64::from(members) {
        return Ok(None);
    }
    let order = |&(fits, whole, node): &(u32, u32, usize)| (Reverse(fits), whole, node);
    // No gang has members on more nodes than it has members.
    let most = (members as usize).min(room.len());
    if most < room.len() {
        room.select_nth_unstable_by_key(most, order);
    }
    room[..most].sort_unstable_by_key(order);
    let mut holds = Vec::with_capacity(members as usize);
    let mut left = members;
    let mut next = 0;
    while left > 0 && next < room.len() {
        let node = if room[next].0 >= left {
            last_node(problem, view, class, &room[next..], left)
        } else {
            room[next].2
        };
        let packed = pack(problem, view, class, node, left);
        left -= u32::try_from(packed.len()).unwrap_or(left).min(left);
        holds.extend(packed);
        next += 1;
    }
    Ok((left == 0).then_some(holds))
}

/// The node that is left tightest after it took the last members: no whole GPU broken if one can do
/// without, then the fewest whole GPUs, then the least free share.
fn last_node(
    problem: &Problem<'_>,
    view: &View,
    class: &Class,
    room: &[(u32, u32, usize)],
    left: u32,
) -> usize {
    let enough = room.iter().filter(|&&(fits, _, _)| fits >= left);
    let tightness = |&(fits, whole, node): &(u32, u32, usize)| {
        let broken = match class.shape.gpus {
            GpuAsk::Share { .. } => broken_gpus(problem, view, class, node, left),
            GpuAsk::None | GpuAsk::Whole { .. } => 0,
        };
        let free: i64 = problem.nodes[node].gpus().map(|gpu| view.gpu_milli[gpu].max(0)).sum();
        (broken, fits, whole, free, node)
    };
    enough.min_by_key(|entry| tightness(entry)).map_or(room[0].2, |&(_, _, node)| node)
}

/// Cards of a node that fit one member's share, and how many of these are used in part already: the same
/// answer as packing it, without doing so, since thousands of nodes are asked. Where the class requires links, of the
/// domain that the member would go to.
fn cards_for_one(problem: &Problem<'_>, view: &View, class: &Class, node: usize) -> (usize, usize) {
    let GpuAsk::Share { devices, milli, memory } = class.shape.gpus else { return (0, 0) };
    let fits = |gpu: &usize| {
        view.gpu_milli[*gpu] >= milli.0
            && view.gpu_memory[*gpu] >= memory.0
            && right_model(problem, class, *gpu)
    };
    let count = |gpus: &mut dyn Iterator<Item = usize>| {
        let fitting = gpus.filter(fits);
        fitting.fold((0, 0), |(all, used), gpu| (all + 1, used + usize::from(!view.is_whole(problem, gpu))))
    };
    if !class.linked {
        return count(&mut problem.nodes[node].gpus());
    }
    let domains = problem.nodes[node].nvlink.iter().map(|domain| count(&mut domain.iter().copied()));
    domains.max_by_key(|&(all, used)| (all >= devices as usize, used.min(devices as usize))).unwrap_or((0, 0))
}

fn broken_gpus(problem: &Problem<'_>, view: &View, class: &Class, node: usize, members: u32) -> usize {
    if members == 1 {
        let (_, used) = cards_for_one(problem, view, class, node);
        return (class.shape.gpus.devices() as usize).saturating_sub(used);
    }
    let holds = pack(problem, view, class, node, members);
    let mut gpus: Vec<usize> =
        holds.iter().flat_map(|hold| hold.slices.iter().map(|slice| slice.gpu)).collect();
    gpus.sort_unstable();
    gpus.dedup();
    gpus.into_iter().filter(|&gpu| view.is_whole(problem, gpu)).count()
}

/// How many members fit on a node, at most `most`.
pub(super) fn capacity(problem: &Problem<'_>, view: &View, class: &Class, node: usize, most: u32) -> u32 {
    let host = host_capacity(view, class, node, most);
    let gpus = match class.shape.gpus {
        GpuAsk::None => most,
        GpuAsk::Whole { gpus } if class.linked => {
            let whole = whole_gpus(problem, view, class, node);
            let of_domain = |domain: &Vec<usize>| whole.iter().filter(|gpu| domain.contains(gpu)).count();
            let fits =
                problem.nodes[node].nvlink.iter().map(|domain| of_domain(domain) / gpus.max(1) as usize);
            u32::try_from(fits.sum::<usize>()).unwrap_or(u32::MAX)
        }
        GpuAsk::Whole { gpus } => {
            let whole = if class.model.is_some() && problem.nodes[node].is_mixed {
                u32::try_from(whole_gpus(problem, view, class, node).len()).unwrap_or(0)
            } else {
                view.whole[node]
            };
            whole / gpus.max(1)
        }
        GpuAsk::Share { devices, .. } if most == 1 => {
            u32::from(cards_for_one(problem, view, class, node).0 >= devices as usize)
        }
        GpuAsk::Share { .. } => u32::try_from(pack(problem, view, class, node, host).len()).unwrap_or(0),
    };
    host.min(gpus)
}

/// How many members its cpu and memory suffice for, at most `most`.
fn host_capacity(view: &View, class: &Class, node: usize, most: u32) -> u32 {
    let by = |free: i64, each: i64| {
        if each <= 0 { most } else { u32::try_from((free / each).clamp(0, i64::from(most))).unwrap_or(0) }
    };
    by(view.cpu[node], class.shape.cpu.0).min(by(view.memory[node], class.shape.memory.0))
}

pub(super) fn right_model(problem: &Problem<'_>, class: &Class, gpu: usize) -> bool {
    class.model.as_ref().is_none_or(|model| problem.gpus[gpu].model == model)
}

pub(super) fn whole_gpus(problem: &Problem<'_>, view: &View, class: &Class, node: usize) -> Vec<usize> {
    let whole = |gpu: &usize| view.is_whole(problem, *gpu) && right_model(problem, class, *gpu);
    problem.nodes[node].gpus().filter(whole).collect()
}

/// Up to `most` members on one node, on concrete GPUs.
pub(super) fn pack(problem: &Problem<'_>, view: &View, class: &Class, node: usize, most: u32) -> Vec<Hold> {
    let (cpu, memory) = (class.shape.cpu.0, class.shape.memory.0);
    let (mut free_cpu, mut free_memory) = (view.cpu[node], view.memory[node]);
    let mut cards = Cards::new(problem, view, class, node);
    let mut holds = Vec::with_capacity(usize::from(most == 1));
    for _ in 0..most {
        if (cpu > 0 && free_cpu < cpu) || (memory > 0 && free_memory < memory) {
            break;
        }
        let Some(slices) = cards.take(problem, class, node) else { break };
        free_cpu -= cpu;
        free_memory -= memory;
        holds.push(Hold { node, slices, cpu, memory });
    }
    holds
}
