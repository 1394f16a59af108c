//! Top-level branches of the team tree, and which of them moved since somebody last looked.
//!
//! A side moves with the use later of any team in it, and with its units: whoever keeps something about a side
//! ([`super::front`]) asks again then. This module knows neither use nor units.

use super::front::FRONTS;
use super::ledger::Tree;

/// What one reader has not seen yet.
#[derive(Debug, Clone, Default)]
struct Moved {
    pool: Option<usize>,
    sides: Vec<usize>,
    has_moved: Vec<bool>,
}

#[derive(Debug, Clone)]
pub(super) struct Sides {
    /// By tree node: the top-level node above it, or itself.
    pub(super) of: Vec<usize>,
    /// By top-level node: all at or below it.
    teams: Vec<Vec<usize>>,
    moved: [Moved; FRONTS],
}

impl Sides {
    pub(super) fn new(tree: &Tree) -> Self {
        let mut of = vec![tree.root; tree.root + 1];
        let mut teams = vec![Vec::new(); tree.root + 1];
        for (node, of) in of.iter_mut().enumerate().take(tree.root) {
            *of = tree.path(node).last().unwrap_or(node);
            teams[*of].push(node);
        }
        Self { of, teams, moved: Default::default() }
    }

    pub(super) fn teams(&self, side: usize) -> &[usize] {
        &self.teams[side]
    }

    /// From now on this reader sees what moves in a pool; at first, everything has.
    pub(super) fn watch(&mut self, slot: usize, pool: usize, tree: &Tree) {
        let sides = tree.children[tree.root].clone();
        let mut has_moved = vec![false; tree.root + 1];
        sides.iter().for_each(|&side| has_moved[side] = true);
        self.moved[slot] = Moved { pool: Some(pool), sides, has_moved };
    }

    /// A team's use or units in a pool moved.
    pub(super) fn note(&mut self, pool: usize, team: usize) {
        let side = self.of[team];
        for moved in self.moved.iter_mut().filter(|moved| moved.pool == Some(pool)) {
            moved.note(side);
        }
    }

    /// A team's units moved, in whatever pool.
    pub(super) fn note_units(&mut self, team: usize) {
        let side = self.of[team];
        for moved in self.moved.iter_mut().filter(|moved| moved.pool.is_some()) {
            moved.note(side);
        }
    }

    /// What this reader has not seen.
    pub(super) fn take(&mut self, slot: usize) -> Vec<usize> {
        let moved = &mut self.moved[slot];
        for &side in &moved.sides {
            moved.has_moved[side] = false;
        }
        std::mem::take(&mut moved.sides)
    }

    /// It could not look there yet.
    pub(super) fn put_back(&mut self, slot: usize, side: usize) {
        self.moved[slot].note(side);
    }
}

impl Moved {
    fn note(&mut self, side: usize) {
        if !self.has_moved[side] {
            self.has_moved[side] = true;
            self.sides.push(side);
        }
    }
}
