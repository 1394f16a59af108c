//! Which nodes of a pool have room: found without looking at the others.
//!
//! Two orders of the same nodes. *By whole GPUs*: one row a count, in each row a tree of maxima over the
//! nodes with exactly that many free, so that the first node with enough cpu and memory is found in a
//! walk down. *By share*: nodes in the order (whole GPUs, free share, node), in bins by their largest free
//! part of a card in use.
//!
//! Invariant: after [`Rooms::put`] of every node that changed, each node stands where its [`Place`] says,
//! once in each order. This module chooses nothing and knows no class.

use std::collections::BTreeSet;

/// No node here, or none with so little.
const ABSENT: [i64; 2] = [i64::MIN, i64::MIN];

/// Bins of parts of a card: the last holds 960 milli and more.
const BINS: usize = 17;

/// What a node has free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) whole: u32,
    /// Milli of all its cards, whole or in part.
    pub(super) milli: i64,
    /// The most that is free of a card of which somebody has a part.
    pub(super) part: i64,
    pub(super) cpu: i64,
    pub(super) memory: i64,
}

/// Whole GPUs, free milli, node.
type ByShare = (u32, i64, usize);

/// The nodes of one pool, by dense position in it.
#[derive(Debug, Clone)]
pub(super) struct Rooms {
    nodes: Vec<usize>,
    places: Vec<Option<Place>>,
    /// By count of whole free GPUs: a heap-shaped tree of the most cpu and memory below it; the leaves, one a
    /// node, start at `leaves`. Empty as long as no node ever had so many.
    rows: Vec<Vec<[i64; 2]>>,
    /// By count of whole free GPUs: nodes.
    counts: Vec<usize>,
    leaves: usize,
    /// Empty where nobody asks for shares.
    bins: Vec<BTreeSet<ByShare>>,
}

impl Rooms {
    /// `nodes` in ascending order; `most` is the largest number of GPUs that one has.
    pub(super) fn new(nodes: &[usize], most: usize, by_share: bool) -> Self {
        let leaves = nodes.len().next_power_of_two();
        Self {
            nodes: nodes.to_vec(),
            places: vec![None; nodes.len()],
            rows: vec![Vec::new(); most + 1],
            counts: vec![0; most + 1],
            leaves,
            bins: vec![BTreeSet::new(); if by_share { BINS } else { 0 }],
        }
    }

    /// Moves a node to where it belongs now.
    pub(super) fn put(&mut self, node: usize, place: Place) {
        let Ok(at) = self.nodes.binary_search(&node) else { return };
        let before = self.places[at].replace(place);
        if before == Some(place) {
            return;
        }
        if let Some(before) = before {
            if before.whole != place.whole {
                self.set_leaf(before.whole as usize, at, ABSENT);
                self.counts[before.whole as usize] -= 1;
            }
            if let Some(bin) = self.bins.get_mut(bin_of(before.part)) {
                bin.remove(&(before.whole, before.milli, node));
            }
        }
        if before.is_none_or(|before| before.whole != place.whole) {
            self.counts[place.whole as usize] += 1;
        }
        self.set_leaf(place.whole as usize, at, [place.cpu, place.memory]);
        if let Some(bin) = self.bins.get_mut(bin_of(place.part)) {
            bin.insert((place.whole, place.milli, node));
        }
    }

    fn set_leaf(&mut self, row: usize, at: usize, room: [i64; 2]) {
        let tree = &mut self.rows[row];
        if tree.is_empty() {
            tree.resize(2 * self.leaves, ABSENT);
        }
        let mut at = self.leaves + at;
        tree[at] = room;
        while at > 1 {
            at /= 2;
            let (left, right) = (tree[2 * at], tree[2 * at + 1]);
            let most = [left[0].max(right[0]), left[1].max(right[1])];
            if tree[at] == most {
                return;
            }
            tree[at] = most;
        }
    }

    /// Nodes with at least `whole` free GPUs and this much cpu and memory (0 = asks for none): fewest whole
    /// first, then by node.
    pub(super) fn with_whole(&self, whole: u32, cpu: i64, memory: i64) -> impl Iterator<Item = usize> + '_ {
        let need = [least(cpu), least(memory)];
        let rows = (whole as usize..self.rows.len()).filter(|&row| self.counts[row] > 0);
        rows.flat_map(move |row| {
            let mut next = 0;
            std::iter::from_fn(move || {
                let found = self.first_in_row(row, next, need)?;
                next = found + 1;
                Some(self.nodes[found])
            })
        })
    }

    /// The first position from `from` on in a row that has enough of both.
    fn first_in_row(&self, row: usize, from: usize, need: [i64; 2]) -> Option<usize> {
        let tree = &self.rows[row];
        let enough = |at: usize| tree[at][0] >= need[0] && tree[at][1] >= need[1];
        if from >= self.nodes.len() {
            return None;
        }
        let mut at = self.leaves + from;
        loop {
            if enough(at) {
                if at >= self.leaves {
                    return Some(at - self.leaves);
                }
                at *= 2;
                continue;
            }
            // To the next subtree on the right; the last one of a level has none.
            while at % 2 == 1 {
                at /= 2;
            }
            if at == 0 {
                return None;
            }
            at += 1;
        }
    }

    /// At most this many members of `gpus` whole GPUs each have room, whatever else they ask.
    pub(super) fn most_members(&self, gpus: u32) -> u64 {
        let each = gpus.max(1) as usize;
        self.counts.iter().enumerate().map(|(whole, &nodes)| (whole / each) as u64 * nodes as u64).sum()
    }

    /// Nodes on which somebody has a part of a card with at least `part` left: (whole, milli, node) ascending.
    pub(super) fn with_part(&self, part: i64) -> impl Iterator<Item = usize> + '_ {
        merged(&self.bins[bin_of(part).min(self.bins.len())..], 0)
    }

    /// Nodes with at least `whole` free GPUs: (whole, milli, node) ascending. Only where shares are asked for.
    pub(super) fn by_share(&self, whole: u32) -> impl Iterator<Item = usize> + '_ {
        merged(&self.bins, whole)
    }

    pub(super) fn place(&self, node: usize) -> Option<Place> {
        self.nodes.binary_search(&node).ok().and_then(|at| self.places[at])
    }
}

const fn least(ask: i64) -> i64 {
    // Who asks for nothing fits even where more is taken than there is.
    if ask <= 0 { i64::MIN + 1 } else { ask }
}

fn bin_of(part: i64) -> usize {
    usize::try_from(part / 60).unwrap_or(0).min(BINS - 1)
}

/// The union of sorted sets, in order.
fn merged(bins: &[BTreeSet<ByShare>], whole: u32) -> impl Iterator<Item = usize> + '_ {
    let mut heads: Vec<_> =
        bins.iter().map(|bin| bin.range((whole, i64::MIN, 0)..).peekable()).filter_map(nonempty).collect();
    std::iter::from_fn(move || {
        let (at, _) = heads
            .iter_mut()
            .enumerate()
            .filter_map(|(at, head)| Some((at, **head.peek()?)))
            .min_by_key(|&(_, key)| key)?;
        heads[at].next().map(|&(_, _, node)| node)
    })
}

fn nonempty<I: Iterator>(mut head: std::iter::Peekable<I>) -> Option<std::iter::Peekable<I>> {
    head.peek().is_some().then_some(head)
}

#[cfg(test)]
mod tests {
    use super::{Place, Rooms};

    const fn place(whole: u32, milli: i64, part: i64, cpu: i64) -> Place {
        Place { whole, milli, part, cpu, memory: 100 }
    }

    /// A small deterministic sequence.
    fn draw(seed: &mut u64, below: u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % below
    }

    #[test]
    fn each_order_equals_a_sort_of_all_nodes() {
        let mut seed = 7;
        for count in [1_usize, 2, 3, 8, 21] {
            let nodes: Vec<usize> = (0..count).map(|at| 10 + 3 * at).collect();
            let mut rooms = Rooms::new(&nodes, 4, true);
            let mut places: Vec<Place> = vec![place(0, 0, 0, 0); count];
            nodes.iter().for_each(|&node| rooms.put(node, places[0]));
            for _ in 0..300 {
                let at = draw(&mut seed, count as u64) as usize;
                let (whole, part) = (draw(&mut seed, 5), draw(&mut seed, 1_000));
                let milli = whole * 1_000 + part + draw(&mut seed, 200);
                let cpu = draw(&mut seed, 20) as i64 - 2;
                places[at] = place(whole as u32, milli as i64, part as i64, cpu);
                rooms.put(nodes[at], places[at]);

                let (ask, part) = (draw(&mut seed, 5) as u32, draw(&mut seed, 1_000) as i64);
                let cpu = draw(&mut seed, 20) as i64;
                let all = || places.iter().zip(&nodes).map(|(place, &node)| (*place, node));
                let mut whole: Vec<_> = all()
                    .filter(|(place, _)| place.whole >= ask && (cpu == 0 || place.cpu >= cpu))
                    .map(|(place, node)| (place.whole, node))
                    .collect();
                whole.sort_unstable();
                let whole: Vec<usize> = whole.into_iter().map(|(_, node)| node).collect();
                assert_eq!(rooms.with_whole(ask, cpu, 0).collect::<Vec<_>>(), whole);

                let mut share: Vec<_> = all().map(|(place, node)| (place.whole, place.milli, node)).collect();
                share.sort_unstable();
                let whole: Vec<usize> =
                    share.iter().filter(|(whole, _, _)| *whole >= ask).map(|&(_, _, node)| node).collect();
                assert_eq!(rooms.by_share(ask).collect::<Vec<_>>(), whole);
                let with_part: Vec<usize> = rooms.with_part(part).collect();
                assert!(share.iter().all(|&(_, _, node)| {
                    let at = nodes.binary_search(&node).unwrap();
                    places[at].part < part || with_part.contains(&node)
                }));
                let members: u64 = places.iter().map(|place| u64::from(place.whole / 2)).sum();
                assert_eq!(rooms.most_members(2), members);
            }
        }
    }
}
