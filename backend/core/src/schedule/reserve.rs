//! Which GPUs are kept for a reservation: those that others leave in time, on the nodes that will be emptiest.
//!
//! They are chosen anew in each pass. What the team runs in the pool and will still run then counts, wherever it is;
//! what others hold without end is not kept, because nobody leaves it. This module evicts nobody and hides nothing: who
//! looks for a place asks what is in the way.

use super::calendar::ReservationRow;
use super::cover::{Cover, covers};
use super::problem::{Hold, Slice};
use super::space::View;
use super::state::State;
use super::timeline::end_of;
use chrono::{DateTime, Utc};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// What is kept for one reservation.
#[derive(Debug)]
pub(super) struct Reserved {
    /// Its place in the calendar.
    pub(super) reservation: usize,
    pub(super) holds: Vec<Hold>,
    /// Who leaves the holds in time.
    pub(super) covers: Vec<Cover>,
    /// GPUs that the team's own work counts for.
    own: usize,
}

/// Of what is kept, that which jobs of this class keep clear of, the first reservation first.
pub(super) fn in_the_way<'r>(
    reserved: &'r [Reserved],
    state: &State<'_, '_>,
    job: usize,
    pool: usize,
) -> impl Iterator<Item = &'r Reserved> {
    let problem = state.problem;
    let bound = &problem.classes[problem.jobs[job].class].bound;
    let binds = move |kept: &&Reserved| {
        !kept.holds.is_empty()
            && problem.calendar.reservation(kept.reservation).pool == pool
            && bound.has_reservation(kept.reservation)
    };
    reserved.iter().filter(binds)
}

/// Space for all reservations that are not over.
pub(super) fn reserve(state: &State<'_, '_>) -> Vec<Reserved> {
    let mut all: Vec<Reserved> = Vec::new();
    for (at, row) in state.problem.calendar.reservations() {
        let kept = keep(state, at, row, &all);
        all.push(kept);
    }
    all
}

fn keep(state: &State<'_, '_>, at: usize, row: &ReservationRow, earlier: &[Reserved]) -> Reserved {
    let calendar = &state.problem.calendar;
    let moment = row.starts_at.max(state.problem.now);
    let beside = || {
        earlier.iter().map(|kept| (kept, calendar.reservation(kept.reservation))).filter(|(_, other)| {
            other.pool == row.pool && other.starts_at < row.ends_at && row.starts_at < other.ends_at
        })
    };
    // What counts for one reservation of a team does not count for another at the same time.
    let related = |other: &ReservationRow| row.serves[other.team] || other.serves[row.team];
    let counted: usize = beside().filter(|(_, other)| related(other)).map(|(kept, _)| kept.own).sum();
    let own = own_gpus(state, row, moment).saturating_sub(counted).min(row.gpus);
    let taken: BTreeSet<usize> = beside()
        .flat_map(|(kept, _)| &kept.holds)
        .flat_map(|hold| &hold.slices)
        .map(|slice| slice.gpu)
        .collect();
    let holds = choose(state, row, moment, row.gpus - own, &taken);
    let known = beside().flat_map(|(kept, _)| &kept.covers).cloned();
    let covers = covers(state, &holds, moment, known);
    Reserved { reservation: at, holds, covers, own }
}

/// Whole GPUs that the team holds or was promised and will still hold then. A start of this plan may be taken back: it
/// does not count, its GPUs are the first to be kept.
fn own_gpus(state: &State<'_, '_>, row: &ReservationRow, moment: DateTime<Utc>) -> usize {
    let is_whole = |slice: &&Slice| slice.milli == 1_000;
    let whole = |hold: &Hold| hold.slices.iter().filter(is_whole).count();
    let mut gpus = 0;
    for (job, sim) in state.jobs.iter().enumerate() {
        if !state.problem.jobs[job].team.is_some_and(|team| row.serves[team]) {
            continue;
        }
        let here = |hold: &&Hold| state.problem.nodes[hold.node].pool == row.pool;
        gpus += sim.nominated.iter().flatten().filter(here).map(whole).sum::<usize>();
        let lasts = end_of(state, job).is_none_or(|end| end > moment);
        if lasts && !sim.fresh {
            gpus += sim.staying().map(|(_, member)| &member.hold).filter(here).map(whole).sum::<usize>();
        }
    }
    gpus
}

fn choose(
    state: &State<'_, '_>,
    row: &ReservationRow,
    moment: DateTime<Utc>,
    wanted: usize,
    taken: &BTreeSet<usize>,
) -> Vec<Hold> {
    let problem = state.problem;
    let (view, fresh) = view_at(state, row, moment);
    let works = |node: &usize| {
        problem.nodes[*node].state == crate::node::NodeState::Ready
            && !problem.calendar.is_maintained(*node, row.starts_at, Some(row.ends_at))
    };
    let on_node = |node: usize| {
        let free = problem.nodes[node].gpus();
        let free = free.filter(|&gpu| view.is_whole(problem, gpu) && !taken.contains(&gpu));
        Room { node, free: free.collect(), kept: Vec::new() }
    };
    let nodes = problem.pool_nodes[row.pool].iter().copied().filter(works);
    let mut rooms: Vec<Room> = nodes.map(on_node).collect();
    let mut left = wanted;
    for room in &mut rooms {
        let (own, others): (Vec<usize>, Vec<usize>) = room.free.iter().partition(|gpu| fresh.contains(gpu));
        room.free = own.into_iter().chain(others).collect();
        let own = room.free.iter().filter(|gpu| fresh.contains(gpu)).count();
        left -= room.keep(own.min(left));
    }
    // Whole nodes while they are wanted whole; the rest where it leaves least behind.
    while left > 0 {
        let enough = rooms.iter_mut().filter(|room| room.free.len() >= left);
        let room = match enough.min_by_key(|room| (room.free.len(), room.node)) {
            Some(room) => room,
            None => match rooms.iter_mut().min_by_key(|room| (Reverse(room.free.len()), room.node)) {
                Some(room) if !room.free.is_empty() => room,
                _ => break,
            },
        };
        left -= room.keep(left);
    }
    let kept = rooms.iter().filter(|room| !room.kept.is_empty());
    kept.map(|room| hold(state, &view, room.node, &room.kept)).collect()
}

/// What of a node can be kept, and what is.
struct Room {
    node: usize,
    free: Vec<usize>,
    kept: Vec<usize>,
}

impl Room {
    /// Keeps so many GPUs of it at most; how many.
    fn keep(&mut self, most: usize) -> usize {
        let count = most.min(self.free.len());
        self.kept.extend(self.free.drain(..count));
        count
    }
}

/// The pool once all have left who will by then, and GPUs on which the team starts in this plan as if it did not.
fn view_at(state: &State<'_, '_>, row: &ReservationRow, moment: DateTime<Utc>) -> (View, BTreeSet<usize>) {
    let problem = state.problem;
    let mut view = state.space.later.clone();
    let mut fresh = BTreeSet::new();
    for (job, sim) in state.jobs.iter().enumerate().filter(|(_, sim)| sim.pool == Some(row.pool)) {
        let own = sim.fresh && problem.jobs[job].team.is_some_and(|team| row.serves[team]);
        if !own && end_of(state, job).is_none_or(|end| end > moment) {
            continue;
        }
        for (_, member) in sim.staying() {
            view.change(problem, &member.hold, 1);
            if own {
                fresh.extend(member.hold.slices.iter().map(|slice| slice.gpu));
            }
        }
    }
    (view, fresh)
}

/// These GPUs, with their part of the node's cores and memory as far as it is there.
fn hold(state: &State<'_, '_>, view: &View, node: usize, gpus: &[usize]) -> Hold {
    let problem = state.problem;
    let row = &problem.nodes[node];
    let part = |all: i64, free: i64| {
        let count = i64::try_from(row.gpu_count.max(1)).unwrap_or(i64::MAX);
        let kept = i64::try_from(gpus.len()).unwrap_or(0);
        (all / count).saturating_mul(kept).min(free).max(0)
    };
    let slices = gpus.iter().map(|&gpu| Slice { gpu, milli: 1_000, memory: problem.gpus[gpu].memory });
    Hold {
        node,
        slices: slices.collect(),
        cpu: part(row.node.cpu.0, view.cpu[node]),
        memory: part(row.node.memory.0, view.memory[node]),
    }
}
