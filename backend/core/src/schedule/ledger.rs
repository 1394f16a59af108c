//! The quota tree of one pool: what each team is guaranteed, may borrow and may lend, and who uses what.
//!
//! A parent's guarantee covers its children; what is left of it is the parent's pot, shared by its
//! children first. What a team does not keep for itself (`guaranteed - lend_limit`) lies in its
//! parent's pot, up to the root, whose pot also holds the capacity that nobody's guarantee covers.
//! A team draws on what it keeps, then on the pots above it, one by one.
//!
//! This module knows no jobs and no time, and evicts nobody.

use super::share_out::share_out;
use std::cmp::Ordering;

/// One team's quota as set. A team without a row is `Row::default()`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) guaranteed: i64,
    pub(super) borrow_limit: Option<i64>,
    pub(super) lend_limit: Option<i64>,
    pub(super) weight: u32,
}

impl Default for Row {
    fn default() -> Self {
        Self { guaranteed: 0, borrow_limit: None, lend_limit: None, weight: 1 }
    }
}

/// The shape of the team tree; the same in each pool. Index `root` stands above all teams.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) parent: Vec<usize>,
    pub(super) children: Vec<Vec<usize>>,
    /// Children before their parents; the root comes last.
    pub(super) bottom_up: Vec<usize>,
    pub(super) root: usize,
}

impl Tree {
    /// `parents[team]` is the team above, if any. A team in a cycle counts as a top-level team.
    pub(super) fn new(parents: &[Option<usize>]) -> Self {
        let root = parents.len();
        let in_cycle = |team: usize| {
            let mut at = Some(team);
            for _ in 0..=root {
                at = at.and_then(|team| parents[team]);
            }
            at.is_some()
        };
        let mut parent: Vec<usize> =
            (0..root).map(|team| if in_cycle(team) { root } else { parents[team].unwrap_or(root) }).collect();
        parent.push(root);
        let mut children = vec![Vec::new(); root + 1];
        for team in 0..root {
            children[parent[team]].push(team);
        }
        let mut bottom_up = vec![root];
        let mut next = 0;
        while next < bottom_up.len() {
            bottom_up.extend(&children[bottom_up[next]]);
            next += 1;
        }
        bottom_up.reverse();
        Self { parent, children, bottom_up, root }
    }

    /// From `node` up to, not including, the root.
    pub(super) fn path(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |&at| (at != self.root).then(|| self.parent[at]))
            .take_while(|&at| at != self.root)
    }

    pub(super) fn is_under(&self, node: usize, ancestor: usize) -> bool {
        ancestor == self.root || self.path(node).any(|at| at == ancestor)
    }

    /// The children of the nearest common ancestor on each side; `None` when one lies under the other.
    pub(super) fn fork(&self, left: usize, right: usize) -> Option<(usize, usize)> {
        let left_side = self.path(left).find(|&at| self.is_under(right, self.parent[at]))?;
        let right_side = self.path(right).find(|&at| self.parent[at] == self.parent[left_side])?;
        (left_side != right_side).then_some((left_side, right_side))
    }
}

/// What is fixed about a pool's quotas during a plan. All in milli-GPU, indexed by tree node.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    /// As set; a parent has at least its children's sum.
    pub(super) nominal: Vec<i64>,
    /// Scaled pro rata when the pool is overcommitted.
    pub(super) guaranteed: Vec<i64>,
    /// Most use in all; `None` = no limit.
    pub(super) cap: Vec<Option<i64>>,
    pub(super) weight: Vec<u32>,
    /// Most of a node's guarantee that others may use.
    pub(super) lendable: Vec<i64>,
    pot: Vec<i64>,
    kept: Vec<i64>,
    pub(super) capacity: i64,
    pub(super) overcommitted: bool,
}

impl Limits {
    pub(super) fn new(tree: &Tree, rows: &[Row], capacity: i64) -> Self {
        let nominal = nominal(tree, rows);
        let overcommitted = nominal[tree.root] > capacity;
        let guaranteed = if overcommitted { scaled(tree, &nominal, capacity) } else { nominal.clone() };
        let cap = rows
            .iter()
            .zip(&nominal)
            .map(|(row, nominal)| row.borrow_limit.map(|limit| nominal.saturating_add(limit)))
            .chain([None])
            .collect();
        let lend_limits: Vec<Option<i64>> = rows.iter().map(|row| row.lend_limit).chain([Some(0)]).collect();
        let mut limits = Self {
            nominal,
            guaranteed,
            cap,
            weight: rows.iter().map(|row| row.weight).chain([1]).collect(),
            lendable: vec![0; tree.root + 1],
            pot: vec![0; tree.root + 1],
            kept: vec![0; tree.root + 1],
            capacity,
            overcommitted,
        };
        limits.fill_pots(tree, &lend_limits);
        limits
    }

    /// The same guarantees with nothing lent and nothing beyond them: where never-evicted work may live.
    pub(super) fn guarantee_only(&self, tree: &Tree) -> Self {
        let mut limits = self.clone();
        limits.cap = vec![None; tree.root + 1];
        limits.fill_pots(tree, &vec![Some(0); tree.root + 1]);
        limits.pot[tree.root] = 0;
        limits
    }

    fn fill_pots(&mut self, tree: &Tree, lend_limits: &[Option<i64>]) {
        for &node in &tree.bottom_up {
            let whole = if node == tree.root { self.capacity } else { self.guaranteed[node] };
            let reserved: i64 =
                tree.children[node].iter().map(|&child| self.guaranteed[child] - self.lendable[child]).sum();
            self.pot[node] = whole - reserved;
            self.lendable[node] = lend_limits[node].map_or(self.pot[node], |limit| limit.min(self.pot[node]));
            self.kept[node] = self.pot[node] - self.lendable[node];
        }
    }

    /// The most that a request of `node` can ever get, were everybody else idle.
    pub(super) fn most(&self, tree: &Tree, node: usize) -> (i64, MostBy) {
        let kept: i64 = tree.path(node).map(|at| self.kept[at]).sum();
        let by_lending = self.pot[tree.root] + kept;
        tree.path(node)
            .filter_map(|at| self.cap[at].map(|cap| (cap, MostBy::Cap(at))))
            .chain([(by_lending, MostBy::Lending)])
            .min_by_key(|(most, _)| *most)
            .unwrap_or((by_lending, MostBy::Lending))
    }
}

/// What bounds a team's use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MostBy {
    Cap(usize),
    Lending,
}

fn nominal(tree: &Tree, rows: &[Row]) -> Vec<i64> {
    let mut nominal: Vec<i64> = rows.iter().map(|row| row.guaranteed).chain([0]).collect();
    for &node in &tree.bottom_up {
        let children: i64 = tree.children[node].iter().map(|&child| nominal[child]).sum();
        nominal[node] = nominal[node].max(children);
    }
    nominal
}

/// Rule 2.9: all guarantees by the same factor, exact to the milli.
fn scaled(tree: &Tree, nominal: &[i64], capacity: i64) -> Vec<i64> {
    let mut scaled = vec![0; nominal.len()];
    scaled[tree.root] = capacity;
    for &node in tree.bottom_up.iter().rev() {
        let children = &tree.children[node];
        let asked: Vec<i64> = children.iter().map(|&child| nominal[child]).collect();
        let sum: i64 = asked.iter().sum();
        let part = share_out(scaled[node], &[sum, nominal[node].max(sum) - sum])[0];
        for (&child, share) in children.iter().zip(share_out(part, &asked)) {
            scaled[child] = share;
        }
    }
    scaled
}

/// Why a request does not fit its quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Short {
    /// `node` would exceed guaranteed + borrow_limit.
    Cap { node: usize, used: i64, cap: i64 },
    /// Nothing, or not enough, is left to borrow.
    Lending { have: i64, need: i64 },
}

/// Weighted share of what lies above the guarantee, compared without division. A weight of 0 makes
/// any use above the guarantee infinite.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub(super) over: i64,
    pub(super) weight: u32,
}

impl Share {
    const fn is_infinite(self) -> bool {
        self.over > 0 && self.weight == 0
    }

    /// Less, where two infinite shares are never less than each other.
    pub(super) fn is_less(self, other: Self) -> bool {
        !(self.is_infinite() && other.is_infinite()) && self < other
    }
}

impl Ord for Share {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |over: i64, weight: u32| i128::from(over) * i128::from(weight.max(1));
        match (self.is_infinite(), other.is_infinite()) {
            (true, true) => self.over.cmp(&other.over),
            (false, false) => product(self.over, other.weight).cmp(&product(other.over, self.weight)),
            (mine, theirs) => mine.cmp(&theirs),
        }
    }
}

impl PartialOrd for Share {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Share {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Share {}

/// Who uses what in one pool.
#[derive(Debug, Clone)]
pub(super) struct Ledger {
    /// All use of a node's subtree.
    pub(super) used: Vec<i64>,
    drawn: Vec<i64>,
}

impl Ledger {
    pub(super) fn new(tree: &Tree) -> Self {
        Self { used: vec![0; tree.root + 1], drawn: vec![0; tree.root + 1] }
    }

    /// Adds (or with a negative amount takes away) use of a team.
    pub(super) fn add(&mut self, tree: &Tree, limits: &Limits, team: usize, milli: i64) {
        let mut node = team;
        let mut draw = milli;
        loop {
            self.used[node] += milli;
            let before = (self.drawn[node] - limits.kept[node]).max(0);
            self.drawn[node] += draw;
            if node == tree.root {
                return;
            }
            draw = (self.drawn[node] - limits.kept[node]).max(0) - before;
            node = tree.parent[node];
        }
    }

    /// Rule 2.1, at every level.
    pub(super) fn fits(&self, tree: &Tree, limits: &Limits, team: usize, milli: i64) -> Result<(), Short> {
        if milli <= 0 {
            return Ok(());
        }
        for node in tree.path(team) {
            if let Some(cap) = limits.cap[node]
                && self.used[node] + milli > cap
            {
                return Err(Short::Cap { node, used: self.used[node], cap });
            }
        }
        let mut draw = milli;
        for node in tree.path(team) {
            let before = (self.drawn[node] - limits.kept[node]).max(0);
            draw = (self.drawn[node] + draw - limits.kept[node]).max(0) - before;
        }
        let have = limits.pot[tree.root] - self.drawn[tree.root];
        if draw > have.max(0) { Err(Short::Lending { have: have.max(0), need: draw }) } else { Ok(()) }
    }

    /// Whether what is used already keeps to rule 2.1 on the team's path.
    pub(super) fn is_within(&self, tree: &Tree, limits: &Limits, team: usize) -> bool {
        tree.path(team).all(|node| limits.cap[node].is_none_or(|cap| self.used[node] <= cap))
            && self.drawn[tree.root] <= limits.pot[tree.root]
    }

    /// The number of steps up to the nearest node inside whose guarantee the request lies; 0 = the
    /// team's own. `None` = it is surplus at every level.
    pub(super) fn inside(&self, tree: &Tree, limits: &Limits, team: usize, milli: i64) -> Option<usize> {
        if milli <= 0 {
            return Some(0);
        }
        tree.path(team).position(|node| self.used[node] + milli <= limits.guaranteed[node])
    }

    /// What `node` uses above its guarantee, were its use `extra` more.
    pub(super) fn share(&self, limits: &Limits, node: usize, extra: i64) -> Share {
        let over = (self.used[node] + extra - limits.guaranteed[node]).max(0);
        Share { over, weight: limits.weight[node] }
    }
}

#[cfg(test)]
mod tests;
