//! Free capacity, per GPU and per node, under two views at once.
//!
//! *Now* counts what runs and what is leaving. *Later* counts what runs and what is nominated, as if
//! everybody who was asked to leave had left. *Open* is the lesser of both: what a job may start on
//! without touching what is held or promised.
//!
//! The index over a view ([`View::rooms`]) is brought up to date by [`View::settle`], not by each change: most
//! changes of a simulation are undone before anybody looks. This module does not choose: it counts.

use super::problem::{Hold, MemberRow, Problem, Slice};
use super::room::{Place, Rooms};
use crate::job::GpuAsk;

/// One view of what is free.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) gpu_milli: Vec<i64>,
    pub(super) gpu_memory: Vec<i64>,
    pub(super) cpu: Vec<i64>,
    pub(super) memory: Vec<i64>,
    /// By node: GPUs that nobody has a part of.
    pub(super) whole: Vec<u32>,
    pub(super) pool_milli: Vec<i64>,
    /// By pool. Nodes in `moved` may stand in the wrong place.
    rooms: Vec<Rooms>,
    moved: Vec<usize>,
    has_moved: Vec<bool>,
    /// The same for who packs by the mix: nodes that moved since it last looked.
    stirred: Vec<usize>,
    has_stirred: Vec<bool>,
}

/// Which promises an amount counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    Now,
    Later,
    Both,
}

#[derive(Debug, Clone)]
pub(super) struct Space {
    now: View,
    pub(super) later: View,
    pub(super) open: View,
    /// What is hidden (−1) of open, and what is not (+1).
    hidden: Vec<(i64, Hold)>,
}

impl View {
    /// Everything free that takes work.
    fn new(problem: &Problem<'_>, usable: impl Fn(usize, usize) -> bool) -> Self {
        let gpus = problem.gpus.len();
        let nodes = problem.nodes.len();
        let mut view = Self {
            gpu_milli: vec![0; gpus],
            gpu_memory: vec![0; gpus],
            cpu: problem.nodes.iter().map(|row| row.node.cpu.0).collect(),
            memory: problem.nodes.iter().map(|row| row.node.memory.0).collect(),
            whole: vec![0; nodes],
            pool_milli: vec![0; problem.pools.len()],
            rooms: Vec::new(),
            moved: (0..nodes).collect(),
            has_moved: vec![true; nodes],
            stirred: (0..nodes).collect(),
            has_stirred: vec![true; nodes],
        };
        for (node, row) in problem.nodes.iter().enumerate() {
            for gpu in row.gpus().filter(|&gpu| usable(node, gpu)) {
                view.gpu_milli[gpu] = 1_000;
                view.gpu_memory[gpu] = problem.gpus[gpu].memory;
                view.whole[node] += 1;
                view.pool_milli[row.pool] += 1_000;
            }
        }
        view
    }

    /// An empty pool in which every node and GPU that exists works.
    pub(super) fn empty(problem: &Problem<'_>) -> Self {
        let mut view =
            Self::new(problem, |node, gpu| problem.nodes[node].exists() && problem.gpus[gpu].healthy);
        view.settle(problem);
        view
    }

    /// Brings the index up to date: whoever looks for a place settles first.
    pub(super) fn settle(&mut self, problem: &Problem<'_>) {
        if self.rooms.is_empty() {
            self.rooms = problem.pool_nodes.iter().map(|nodes| rooms(problem, nodes)).collect();
        }
        for node in std::mem::take(&mut self.moved) {
            self.has_moved[node] = false;
            let place = self.place_of(problem, node);
            self.rooms[problem.nodes[node].pool].put(node, place);
        }
    }

    /// The index of a pool. The view must be settled.
    pub(super) fn rooms(&self, pool: usize) -> &Rooms {
        debug_assert!(self.moved.is_empty(), "who looks for a place settles first");
        &self.rooms[pool]
    }

    fn place_of(&self, problem: &Problem<'_>, node: usize) -> Place {
        let mut place = Place {
            whole: self.whole[node],
            milli: 0,
            part: 0,
            cpu: self.cpu[node],
            memory: self.memory[node],
        };
        for gpu in problem.nodes[node].gpus() {
            let milli = self.gpu_milli[gpu].max(0);
            place.milli += milli;
            if milli > place.part && !self.is_whole(problem, gpu) {
                place.part = milli;
            }
        }
        place
    }

    /// Every node stands in the index where a recount puts it.
    fn index_is_true(&self, problem: &Problem<'_>) -> bool {
        let stands = |(node, row): (usize, &super::problem::NodeRow<'_>)| {
            self.has_moved[node]
                || self
                    .rooms
                    .get(row.pool)
                    .is_some_and(|rooms| rooms.place(node) == Some(self.place_of(problem, node)))
        };
        problem.nodes.iter().enumerate().all(stands)
    }

    fn note_moved(&mut self, node: usize) {
        if !self.has_moved[node] {
            self.has_moved[node] = true;
            self.moved.push(node);
        }
        if !self.has_stirred[node] {
            self.has_stirred[node] = true;
            self.stirred.push(node);
        }
    }

    /// Nodes that moved since this was last asked, each once.
    pub(super) fn take_stirred(&mut self) -> Vec<usize> {
        for &node in &self.stirred {
            self.has_stirred[node] = false;
        }
        std::mem::take(&mut self.stirred)
    }

    pub(super) fn is_whole(&self, problem: &Problem<'_>, gpu: usize) -> bool {
        self.gpu_milli[gpu] == 1_000 && self.gpu_memory[gpu] == problem.gpus[gpu].memory
    }

    fn set_gpu(&mut self, problem: &Problem<'_>, node: usize, gpu: usize, milli: i64, memory: i64) {
        let was_whole = self.is_whole(problem, gpu);
        let pool = problem.nodes[node].pool;
        self.pool_milli[pool] += milli.max(0) - self.gpu_milli[gpu].max(0);
        self.gpu_milli[gpu] = milli;
        self.gpu_memory[gpu] = memory;
        let is_whole = self.is_whole(problem, gpu);
        self.note_moved(node);
        if was_whole != is_whole {
            self.whole[node] = if is_whole { self.whole[node] + 1 } else { self.whole[node] - 1 };
        }
    }

    /// Takes (`sign` −1) or gives back (+1) what a member holds.
    pub(super) fn change(&mut self, problem: &Problem<'_>, hold: &Hold, sign: i64) {
        self.cpu[hold.node] += sign * hold.cpu;
        self.memory[hold.node] += sign * hold.memory;
        self.note_moved(hold.node);
        for &Slice { gpu, milli, memory } in &hold.slices {
            let (milli, memory) = (self.gpu_milli[gpu] + sign * milli, self.gpu_memory[gpu] + sign * memory);
            self.set_gpu(problem, hold.node, gpu, milli, memory);
        }
    }
}

impl Space {
    /// What those leave who hold something when the plan begins. Nobody plans on the GPUs of one who should have left
    /// long ago: he counts later too.
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        let mut later = View::new(problem, |_, gpu| problem.gpus[gpu].usable);
        let members = || problem.jobs.iter().flat_map(|row| &row.members);
        let leaves = |member: &MemberRow| member.leaving && !member.overdue;
        for member in members().filter(|member| !leaves(member)) {
            later.change(problem, &member.hold, -1);
        }
        let mut now = later.clone();
        for member in members().filter(|member| leaves(member)) {
            now.change(problem, &member.hold, -1);
        }
        // Who leaves holds something now and nothing later: the lesser of both is what is free now.
        Self { open: now.clone(), now, later, hidden: Vec::new() }
    }

    pub(super) fn take(&mut self, problem: &Problem<'_>, hold: &Hold, count: Count) {
        self.change(problem, hold, count, -1);
    }

    pub(super) fn give(&mut self, problem: &Problem<'_>, hold: &Hold, count: Count) {
        self.change(problem, hold, count, 1);
    }

    fn change(&mut self, problem: &Problem<'_>, hold: &Hold, count: Count, sign: i64) {
        if count != Count::Later {
            self.now.change(problem, hold, sign);
        }
        if count != Count::Now {
            self.later.change(problem, hold, sign);
        }
        self.open_up(problem, hold);
    }

    fn open_up(&mut self, problem: &Problem<'_>, hold: &Hold) {
        let node = hold.node;
        self.open.cpu[node] = self.now.cpu[node].min(self.later.cpu[node]);
        self.open.memory[node] = self.now.memory[node].min(self.later.memory[node]);
        self.open.note_moved(node);
        for slice in &hold.slices {
            let milli = self.now.gpu_milli[slice.gpu].min(self.later.gpu_milli[slice.gpu]);
            let memory = self.now.gpu_memory[slice.gpu].min(self.later.gpu_memory[slice.gpu]);
            self.open.set_gpu(problem, node, slice.gpu, milli, memory);
        }
        // What is hidden stays so: all of it on the node, and its parts of these GPUs.
        for (sign, hidden) in self.hidden.iter().filter(|(_, hidden)| hidden.node == node) {
            let is_reset = |part: &&Slice| hold.slices.iter().any(|slice| slice.gpu == part.gpu);
            let slices = hidden.slices.iter().filter(is_reset).copied().collect();
            self.open.change(problem, &Hold { slices, ..*hidden }, *sign);
        }
    }

    /// Hides what is kept from those who look at what is open, but for the parts that are not free now and will be in
    /// time (`covered`), until [`Space::show`].
    pub(super) fn hide<'h>(
        &mut self,
        problem: &Problem<'_>,
        kept: impl Iterator<Item = &'h Hold>,
        covered: impl Iterator<Item = &'h Hold>,
    ) {
        let signed = kept.map(|hold| (-1, hold.clone())).chain(covered.map(|hold| (1, hold.clone())));
        self.hidden = signed.collect();
        for (sign, hold) in &self.hidden {
            self.open.change(problem, hold, *sign);
        }
    }

    /// Open is what now and later leave, once more.
    pub(super) fn show(&mut self, problem: &Problem<'_>) {
        for (_, hold) in std::mem::take(&mut self.hidden) {
            self.open_up(problem, &hold);
        }
    }

    /// Open is the lesser of both views, nothing is hidden, and every index is right.
    pub(super) fn is_true(&self, problem: &Problem<'_>) -> bool {
        let (now, later, open) = (&self.now, &self.later, &self.open);
        let lesser = |of: fn(&View) -> &Vec<i64>| {
            let both = of(now).iter().zip(of(later)).map(|(now, later)| *now.min(later));
            both.eq(of(open).iter().copied())
        };
        lesser(|view| &view.cpu)
            && lesser(|view| &view.memory)
            && lesser(|view| &view.gpu_milli)
            && lesser(|view| &view.gpu_memory)
            && self.hidden.is_empty()
            && open.index_is_true(problem)
            && later.index_is_true(problem)
    }

    /// Brings both indexes up to date.
    pub(super) fn settle(&mut self, problem: &Problem<'_>) {
        self.open.settle(problem);
        self.later.settle(problem);
    }

    /// Whether exactly this hold is free now, whatever is promised.
    pub(super) fn is_free_now(&self, hold: &Hold) -> bool {
        has(&self.now, hold)
    }

    /// Whether what was taken for this hold was really there.
    pub(super) fn is_not_over_booked_now(&self, hold: &Hold) -> bool {
        is_not_over_booked(&self.now, hold)
    }

    /// The same once everybody who was asked to leave has left, and who was promised space has come. GPUs that take no
    /// new work are promised to nobody.
    pub(super) fn is_not_over_booked_later(&self, problem: &Problem<'_>, hold: &Hold) -> bool {
        let usable = |slice: &&Slice| problem.gpus[slice.gpu].usable;
        let slices = hold.slices.iter().filter(usable).copied().collect();
        is_not_over_booked(&self.later, &Hold { slices, ..*hold })
    }
}

fn is_not_over_booked(view: &View, hold: &Hold) -> bool {
    (hold.cpu <= 0 || view.cpu[hold.node] >= 0)
        && (hold.memory <= 0 || view.memory[hold.node] >= 0)
        && hold.slices.iter().all(|slice| view.gpu_milli[slice.gpu] >= 0 && view.gpu_memory[slice.gpu] >= 0)
}

fn rooms(problem: &Problem<'_>, nodes: &[usize]) -> Rooms {
    let most = nodes.iter().map(|&node| problem.nodes[node].gpu_count).max().unwrap_or(0);
    let by_share = problem.classes.iter().any(|class| matches!(class.shape.gpus, GpuAsk::Share { .. }));
    Rooms::new(nodes, most, by_share)
}

fn has(view: &View, hold: &Hold) -> bool {
    let enough = |need: i64, free: i64| need <= 0 || free >= need;
    enough(hold.cpu, view.cpu[hold.node])
        && enough(hold.memory, view.memory[hold.node])
        && hold.slices.iter().all(|slice| {
            enough(slice.milli, view.gpu_milli[slice.gpu]) && enough(slice.memory, view.gpu_memory[slice.gpu])
        })
}
