//! The units that may be taken as things stand, in the policy's order, one at a time: most searches need but
//! the first few of thousands.
//!
//! This module changes nothing, and its order is [`super::score`]'s.

use super::herd::{Herds, Offer};
use super::rights::{Evictor, Verdict, right, terms, victim_share};
use super::score::UnitKey;
use super::state::State;
use super::unit::Unit;
use crate::policy::Rebalance;
use chrono::{DateTime, Utc};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is true of all units together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Survey {
    pub(super) may: usize,
    pub(super) takeable_milli: i64,
    pub(super) withheld_milli: i64,
    pub(super) protected_until: Option<DateTime<Utc>>,
    pub(super) hits_a_guarantee: bool,
    /// The evictor's own team has units that may have to leave.
    pub(super) own: bool,
}

/// Units in order: the next of each team, or all of them sorted.
#[derive(Debug)]
pub(super) struct Muster {
    survey: Survey,
    /// (Key, team, its row in the team's herd).
    heads: BinaryHeap<Reverse<(UnitKey, usize, usize)>>,
    /// Last first.
    listed: Vec<UnitKey>,
}

impl Muster {
    /// All units of the pool.
    pub(super) fn of_pool(state: &State<'_, '_>, herds: &mut Herds, evictor: &Evictor) -> Self {
        let above = &state.above[evictor.pool];
        let own = Some(evictor.team).filter(|team| !above.contains(team));
        // The order inside a herd is the asker's as long as all its units are taken by the same right and
        // with no overshoot.
        let sorted = !evictor.may_overshoot && state.problem.snapshot.policy.rebalance == Rebalance::Off;
        let mut muster = Self { survey: Survey::default(), heads: BinaryHeap::new(), listed: Vec::new() };
        let mut heads = Vec::new();
        for team in above.iter().copied().chain(own) {
            let Some(terms) = terms(state, evictor, team) else { continue };
            let offer = herds.offer(state, evictor, (team, terms));
            muster.survey.add(&offer, team == evictor.team);
            if sorted {
                let first = herds.first(state, evictor, (team, &terms, &offer));
                heads.extend(first.map(|(at, key)| Reverse((key, team, at))));
            } else if offer.first.is_some() {
                muster.list(state, evictor, state.of_team[team].iter().copied());
            }
        }
        muster.heads = BinaryHeap::from(heads);
        muster.listed.sort_unstable_by(|left, right| right.cmp(left));
        muster
    }

    /// The units of these jobs.
    pub(super) fn of_jobs(
        state: &State<'_, '_>,
        evictor: &Evictor,
        jobs: impl Iterator<Item = usize>,
    ) -> Self {
        let mut muster = Self { survey: Survey::default(), heads: BinaryHeap::new(), listed: Vec::new() };
        muster.list(state, evictor, jobs);
        muster.listed.sort_unstable_by(|left, right| right.cmp(left));
        muster
    }

    fn list(&mut self, state: &State<'_, '_>, evictor: &Evictor, jobs: impl Iterator<Item = usize>) {
        for unit in jobs.flat_map(|job| Unit::all_of(state, job)) {
            match right(state, evictor, unit) {
                Verdict::May(right) => {
                    let share = victim_share(state, evictor, unit);
                    self.listed.push(UnitKey::new(state, unit, right, share, evictor.as_of));
                }
                Verdict::Protected(until) => self.survey.protect(until),
                Verdict::BelowGuarantee => self.survey.hits_a_guarantee = true,
                Verdict::Never => {}
            }
        }
    }

    pub(super) const fn survey(&self) -> Survey {
        self.survey
    }

    /// The next unit; the state must be as it was when these were mustered.
    pub(super) fn next(
        &mut self,
        state: &State<'_, '_>,
        herds: &Herds,
        evictor: &Evictor,
    ) -> Option<UnitKey> {
        let Some(mut head) = self.heads.peek_mut() else { return self.listed.pop() };
        let Reverse((key, team, at)) = *head;
        match herds.next(state, evictor, team, at + 1) {
            Some((at, key)) => *head = Reverse((key, team, at)),
            None => {
                std::collections::binary_heap::PeekMut::pop(head);
            }
        }
        Some(key)
    }
}

impl Survey {
    fn add(&mut self, offer: &Offer, own: bool) {
        self.may += offer.may;
        self.takeable_milli += offer.takeable_milli;
        self.withheld_milli += offer.withheld_milli;
        self.hits_a_guarantee |= offer.hits_a_guarantee;
        self.own |= own;
        if let Some(until) = offer.protected_until {
            self.protect(until);
        }
    }

    fn protect(&mut self, until: DateTime<Utc>) {
        self.protected_until = Some(self.protected_until.map_or(until, |known| known.min(until)));
    }
}
