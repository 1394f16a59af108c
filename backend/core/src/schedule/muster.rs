//! The units that may be taken as things stand, in the policy's order, one at a time: most searches need but
//! the first few of thousands.
//!
//! This module changes nothing, and its order is [`super::score`]'s.

use super::front::{Footing, Head};
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    /// Of those that do not stand in a front, or no more.
    heads: BinaryHeap<Reverse<Head>>,
    /// The front from which the other teams' first units come.
    behind: Option<Behind>,
    /// Last first.
    listed: Vec<UnitKey>,
}

/// How far a front was read.
#[derive(Debug)]
struct Behind {
    slot: usize,
    /// The asker's own side, which does not stand there.
    own: usize,
    next: Option<Head>,
}

impl Muster {
    fn empty() -> Self {
        Self { survey: Survey::default(), heads: BinaryHeap::new(), behind: None, listed: Vec::new() }
    }

    /// All units of the pool. Another muster of the same plan ends this one.
    pub(super) fn of_pool(state: &mut State<'_, '_>, herds: &mut Herds, evictor: &Evictor) -> Self {
        let Some(footing) = Footing::of(state, evictor) else {
            return Self::of_everybody(state, herds, evictor);
        };
        let own = state.sides.of[evictor.team];
        let slot = herds.stand_on(state, evictor, footing);
        let mut muster = Self { survey: herds.front(slot).survey(own), ..Self::empty() };
        let next = herds.front(slot).next(&state.sides.of, None, own);
        muster.behind = Some(Behind { slot, own, next });
        let above = &state.above[evictor.pool];
        let near = state.sides.teams(own).iter().filter(|team| above.contains(team));
        let asker = Some(&evictor.team).filter(|team| !above.contains(team));
        let mut heads = Vec::new();
        for &team in near.chain(asker) {
            muster.ask(state, herds, evictor, team, &mut heads);
        }
        muster.heads = BinaryHeap::from(heads);
        debug_assert!(muster.is_true(state, herds, evictor), "a front equals asking everybody");
        muster
    }

    fn ask(
        &mut self,
        state: &State<'_, '_>,
        herds: &mut Herds,
        evictor: &Evictor,
        team: usize,
        heads: &mut Vec<Reverse<Head>>,
    ) {
        let Some(terms) = terms(state, evictor, team) else { return };
        let offer = herds.offer(state, evictor, (team, terms));
        self.survey.add(&offer, team == evictor.team);
        heads.extend(offer.first_on(&terms, state, evictor.pool).map(|key| Reverse((key, team))));
    }

    /// Whether every borrower, asked one by one, says the same.
    fn is_true(&self, state: &State<'_, '_>, herds: &mut Herds, evictor: &Evictor) -> bool {
        let judged = herds.judged;
        let all = Self::of_everybody(state, herds, evictor);
        herds.judged = judged;
        let mut here: Vec<Head> = self.heads.iter().map(|Reverse(head)| *head).collect();
        if let Some(behind) = &self.behind {
            let mut next = behind.next;
            while let Some(head) = next {
                here.push(head);
                next = herds.front(behind.slot).next(&state.sides.of, Some(&head), behind.own);
            }
        }
        here.sort_unstable();
        let there: Vec<Head> =
            all.heads.into_sorted_vec().into_iter().rev().map(|Reverse(head)| head).collect();
        self.survey == all.survey && here == there
    }

    /// All units of the pool, each borrower being asked.
    fn of_everybody(state: &State<'_, '_>, herds: &mut Herds, evictor: &Evictor) -> Self {
        let above = &state.above[evictor.pool];
        let own = Some(evictor.team).filter(|team| !above.contains(team));
        // The order inside a herd is the asker's as long as all its units are taken by the same right and
        // with no overshoot.
        let sorted = !evictor.may_overshoot && state.problem.snapshot.policy.rebalance == Rebalance::Off;
        let mut muster = Self::empty();
        let mut heads = Vec::new();
        for team in above.iter().copied().chain(own) {
            if sorted {
                muster.ask(state, herds, evictor, team, &mut heads);
                continue;
            }
            let Some(terms) = terms(state, evictor, team) else { continue };
            let offer = herds.offer(state, evictor, (team, terms));
            muster.survey.add(&offer, team == evictor.team);
            if offer.may > 0 {
                muster.list(state, evictor, state.of_team[team].iter().copied());
            }
        }
        muster.heads = BinaryHeap::from(heads);
        muster.listed.sort_unstable_by(|left, right| right.cmp(left));
        muster
    }

    /// May be kept while the state changes, as long as it is used when the state is as it was.
    pub(super) fn keeps(&self) -> bool {
        self.behind.is_none() && self.heads.is_empty()
    }

    /// The units of these jobs.
    pub(super) fn of_jobs(
        state: &State<'_, '_>,
        evictor: &Evictor,
        jobs: impl Iterator<Item = usize>,
    ) -> Self {
        let mut muster = Self::empty();
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
        let near = self.heads.peek().map(|Reverse(head)| *head);
        let far = self.behind.as_ref().and_then(|behind| behind.next);
        let is_far = far.is_some_and(|far| near.is_none_or(|near| far < near));
        let Some((key, team)) = (if is_far { far } else { near }) else { return self.listed.pop() };
        if let Some(behind) = self.behind.as_mut().filter(|_| is_far) {
            behind.next = herds.front(behind.slot).next(&state.sides.of, far.as_ref(), behind.own);
        } else {
            self.heads.pop();
        }
        if let Some(next) = herds.next(state, evictor, team, &key) {
            self.heads.push(Reverse((next, team)));
        }
        Some(key)
    }
}

impl Survey {
    /// All but the first end of a protection and whether a guarantee was hit, which are no sums.
    pub(super) fn add_counts(&mut self, other: &Self) {
        self.may += other.may;
        self.takeable_milli += other.takeable_milli;
        self.withheld_milli += other.withheld_milli;
    }

    pub(super) fn subtract(&mut self, other: &Self) {
        self.may -= other.may;
        self.takeable_milli -= other.takeable_milli;
        self.withheld_milli -= other.withheld_milli;
    }

    pub(super) fn add(&mut self, offer: &Offer, own: bool) {
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
