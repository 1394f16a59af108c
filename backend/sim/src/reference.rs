//! Reference schedulers without loans: first come, first served, with or without letting later jobs pass, on each
//! team's own nodes or on all of them together. What a policy is worth shows beside them.
//!
//! A gang of up to one node's GPUs runs on one node, a larger one on wholly free nodes and a rest. Nobody is ever
//! evicted. This module shares nothing with the planner, and knows no quota beyond the nodes themselves.

use crate::workload::{Micros, Workload};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Who shares which nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Each team its own.
    Alone,
    OnePool,
}

/// Who goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Nobody passes the first in line.
    Fifo,
    /// Whoever fits starts, earliest first.
    Backfill,
}

/// The wait of each job until its start; `None` = it never starts.
pub type Waits = Vec<Option<Micros>>;

/// Runs the whole workload; `nodes[team]` nodes of `node_gpus` each.
#[must_use]
pub fn waits(workload: &Workload, nodes: &[u32], node_gpus: u32, sharing: Sharing, order: Order) -> Waits {
    let mut waits = vec![None; workload.tasks.len()];
    match sharing {
        Sharing::OnePool => {
            let all: Vec<usize> = (0..workload.tasks.len()).collect();
            run(workload, &all, nodes.iter().sum(), node_gpus, order, &mut waits);
        }
        Sharing::Alone => {
            for (team, &nodes) in nodes.iter().enumerate() {
                let own: Vec<usize> =
                    (0..workload.tasks.len()).filter(|&task| workload.tasks[task].team == team).collect();
                run(workload, &own, nodes, node_gpus, order, &mut waits);
            }
        }
    }
    waits
}

/// Where a running job sits: node and GPUs of each part.
type Held = Vec<(usize, u32)>;

fn run(workload: &Workload, tasks: &[usize], nodes: u32, node_gpus: u32, order: Order, waits: &mut Waits) {
    let mut free = vec![node_gpus; nodes as usize];
    let mut ends: BinaryHeap<Reverse<(Micros, usize)>> = BinaryHeap::new();
    let mut held: Vec<Held> = vec![Vec::new(); workload.tasks.len()];
    // Those that ask for the same wait in one line: the first of each is all that must be tried.
    let mut lines: Vec<(u32, VecDeque<usize>)> = Vec::new();
    let mut next = 0;
    loop {
        let arrival = tasks.get(next).map(|&task| workload.tasks[task].at);
        let end = ends.peek().map(|Reverse((at, _))| *at);
        let Some(now) = arrival.into_iter().chain(end).min() else { return };
        while let Some(&Reverse((at, task))) = ends.peek()
            && at == now
        {
            ends.pop();
            held[task].drain(..).for_each(|(node, gpus)| free[node] += gpus);
        }
        while let Some(&task) = tasks.get(next)
            && workload.tasks[task].at == now
        {
            let gpus = workload.tasks[task].gpus;
            match lines.iter_mut().find(|(size, _)| *size == gpus) {
                Some((_, line)) => line.push_back(task),
                None => lines.push((gpus, VecDeque::from([task]))),
            }
            next += 1;
        }
        start(workload, &mut lines, &mut free, node_gpus, order, |task, place| {
            held[task] = place;
            waits[task] = Some(now - workload.tasks[task].at);
            ends.push(Reverse((now + workload.tasks[task].runs, task)));
        });
    }
}

/// Starts whoever may start, in order.
fn start(
    workload: &Workload,
    lines: &mut [(u32, VecDeque<usize>)],
    free: &mut [u32],
    node_gpus: u32,
    order: Order,
    mut started: impl FnMut(usize, Held),
) {
    let mut stuck = vec![false; lines.len()];
    loop {
        let heads = lines.iter().enumerate().filter(|(at, _)| !stuck[*at]);
        let first = heads.filter_map(|(at, (_, line))| Some((*line.front()?, at))).min();
        let Some((task, at)) = first else { return };
        match place(free, workload.tasks[task].gpus, node_gpus) {
            Some(place) => {
                place.iter().for_each(|&(node, gpus)| free[node] -= gpus);
                lines[at].1.pop_front();
                started(task, place);
            }
            None if order == Order::Fifo => return,
            None => stuck[at] = true,
        }
    }
}

/// Best fit: the fullest node that has room; whole nodes for what is larger than one.
fn place(free: &[u32], gpus: u32, node_gpus: u32) -> Option<Held> {
    let (whole, rest) = ((gpus / node_gpus) as usize, gpus % node_gpus);
    let mut held: Held = (0..free.len())
        .filter(|&node| free[node] == node_gpus)
        .take(whole)
        .map(|node| (node, node_gpus))
        .collect();
    if held.len() < whole {
        return None;
    }
    if rest > 0 {
        let fits =
            (0..free.len()).filter(|&node| free[node] >= rest && !held.iter().any(|part| part.0 == node));
        let node = fits.min_by_key(|&node| (free[node], node))?;
        held.push((node, rest));
    }
    Some(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{SECOND, Task};

    fn task(team: usize, at: i64, runs: i64, gpus: u32) -> Task {
        Task {
            name: String::new(),
            team,
            at: at * SECOND,
            runs: runs * SECOND,
            until: None,
            gpus,
            milli: None,
            kind: None,
            priority: None,
        }
    }

    fn waited(sharing: Sharing, order: Order) -> Vec<Option<i64>> {
        // Team 0 asks for two nodes' worth behind one job; team 1 is idle but for its last.
        let tasks = vec![task(0, 0, 100, 8), task(0, 1, 100, 8), task(0, 2, 10, 1), task(1, 3, 10, 4)];
        let workload = Workload { teams: vec!["a".into(), "b".into()], tasks };
        let waits = waits(&workload, &[1, 1], 8, sharing, order);
        waits.into_iter().map(|wait| wait.map(|wait| wait / SECOND)).collect()
    }

    #[test]
    fn each_reference_is_what_its_name_says() {
        let secs = |list: [i64; 4]| list.map(Some).to_vec();
        assert_eq!(waited(Sharing::Alone, Order::Fifo), secs([0, 99, 198, 0]));
        assert_eq!(waited(Sharing::Alone, Order::Backfill), secs([0, 99, 198, 0]));
        assert_eq!(waited(Sharing::OnePool, Order::Fifo), secs([0, 0, 98, 97]));
    }

    #[test]
    fn backfill_passes_whom_fifo_waits_behind() {
        let tasks = vec![task(0, 0, 100, 4), task(0, 1, 100, 8), task(0, 2, 10, 4)];
        let workload = Workload { teams: vec!["a".into()], tasks };
        let waits = |order| waits(&workload, &[1], 8, Sharing::Alone, order)[2].map(|wait| wait / SECOND);
        assert_eq!((waits(Order::Fifo), waits(Order::Backfill)), (Some(198), Some(0)));
    }

    #[test]
    fn a_gang_larger_than_a_node_takes_whole_ones_and_a_rest() {
        assert_eq!(place(&[8, 3, 8], 12, 8), Some(vec![(0, 8), (2, 4)]));
        assert_eq!(place(&[8, 4, 8], 12, 8), Some(vec![(0, 8), (1, 4)]));
        assert_eq!(place(&[7, 8], 16, 8), None);
    }
}
