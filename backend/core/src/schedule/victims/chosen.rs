//! What a search has chosen so far: taken from the state while the search looks on, and put back.
//!
//! This module searches for nothing.

use super::Search;
use crate::schedule::rights::{Right, Verdict, victim_share};
use crate::schedule::score::UnitKey;
use crate::schedule::unit::{Chosen, Unit};

impl Search<'_, '_, '_> {
    pub(super) fn best_of(&mut self, units: &[Unit]) -> Option<(UnitKey, Right)> {
        let mut best: Option<(UnitKey, Right)> = None;
        for &unit in units {
            if unit.is_gone(self.state) {
                continue;
            }
            let Verdict::May(right) = self.judge(unit) else { continue };
            let key = self.key(unit, right);
            if best.is_none_or(|(least, _)| self.is_before(&key, &least)) {
                best = Some((key, right));
            }
        }
        best
    }

    fn key(&self, unit: Unit, right: Right) -> UnitKey {
        let share = victim_share(self.state, &self.evictor, unit);
        UnitKey::new(self.state, unit, right, share, self.evictor.as_of)
    }

    pub(super) fn is_before(&self, left: &UnitKey, right: &UnitKey) -> bool {
        if !self.takes_largest_first {
            return left < right;
        }
        let size = |key: &UnitKey| (key.right, -key.unit.milli(self.state));
        (size(left), left) < (size(right), right)
    }

    /// Judges and takes these units in this order, on top of the first `keep` chosen; false as soon as
    /// one is not rightful.
    pub(super) fn choose_all(&mut self, units: &[Unit], keep: usize) -> bool {
        self.restore_down_to(keep);
        for &unit in units {
            if unit.is_gone(self.state) {
                continue;
            }
            let Verdict::May(right) = self.judge(unit) else { return false };
            self.choose(unit, right);
        }
        true
    }

    pub(super) fn units_on(&self, node: usize) -> Vec<Unit> {
        let on_node = |unit: &Unit| {
            let members = &self.state.jobs[unit.job].members;
            match unit.surplus {
                Some(at) => members[at].hold.node == node,
                None => true,
            }
        };
        let jobs = self.state.on_node[node].iter();
        jobs.flat_map(|&job| Unit::all_of(self.state, job)).filter(on_node).collect()
    }

    pub(super) fn choose(&mut self, unit: Unit, right: Right) {
        let key = self.key(unit, right);
        let chosen = Chosen { key, right, members: unit.members(self.state) };
        self.take_again(&chosen);
        self.chosen.push(chosen);
    }

    fn take_again(&mut self, chosen: &Chosen) {
        for &at in &chosen.members {
            self.state.release(chosen.key.unit.job, at);
        }
    }

    fn put_back(&mut self, chosen: &Chosen) {
        for &at in chosen.members.iter().rev() {
            self.state.restore(chosen.key.unit.job, at);
        }
    }

    pub(super) fn restore_down_to(&mut self, keep: usize) {
        while self.chosen.len() > keep {
            if let Some(chosen) = self.chosen.pop() {
                self.put_back(&chosen);
            }
        }
    }

    pub(super) fn restore_all(&mut self) {
        self.restore_down_to(0);
    }
}
