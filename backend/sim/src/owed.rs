//! The promise behind every loan, measured: how long does an owner's job wait inside its guarantee while others are
//! on loan? Minimum run time and grace are the price of gentleness; what goes beyond them is denied.
//!
//! This module looks at use and waiting only; it does not know how the planner keeps the promise.

use crate::workload::Micros;
use std::collections::HashMap;

/// A waiting job that its team's guarantee covers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) task: usize,
    pub(crate) team: usize,
    /// What minimum run time and grace explain.
    pub(crate) allowed: Micros,
}

#[derive(Debug)]
pub(crate) struct Owed {
    /// By task: since when it has been a claim without a break.
    since: HashMap<usize, (Micros, Claim)>,
    pub(crate) denied: Vec<Micros>,
    pub(crate) longest: Micros,
}

impl Owed {
    pub(crate) fn new(teams: usize) -> Self {
        Self { since: HashMap::new(), denied: vec![0; teams], longest: 0 }
    }

    /// The claims of this moment, in place of the earlier ones.
    pub(crate) fn set(&mut self, now: Micros, claims: &[Claim]) {
        let before = std::mem::take(&mut self.since);
        for &claim in claims {
            let since = before.get(&claim.task).map_or(now, |(since, _)| *since);
            self.since.insert(claim.task, (since, claim));
        }
    }

    /// Time passes with the claims as they are. A team's time counts once, however many of its jobs wait.
    pub(crate) fn pass(&mut self, from: Micros, until: Micros) {
        let mut first: HashMap<usize, Micros> = HashMap::new();
        for &(since, claim) in self.since.values() {
            self.longest = self.longest.max(until - since);
            let beyond = (since + claim.allowed).max(from);
            first.entry(claim.team).and_modify(|known| *known = (*known).min(beyond)).or_insert(beyond);
        }
        for (team, beyond) in first {
            self.denied[team] += (until - beyond).max(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_goes_beyond_the_allowance_without_a_break_is_denied() {
        let mut owed = Owed::new(1);
        let claim = Claim { task: 7, team: 0, allowed: 10 };
        owed.set(0, &[claim]);
        owed.pass(0, 8);
        owed.set(8, &[]);
        owed.pass(8, 9);
        owed.set(9, &[claim]);
        owed.pass(9, 19);
        assert_eq!(owed.denied, [0]);
        owed.set(19, &[claim, Claim { task: 8, ..claim }]);
        owed.pass(19, 25);
        assert_eq!((owed.denied[0], owed.longest), (6, 16));
    }
}
