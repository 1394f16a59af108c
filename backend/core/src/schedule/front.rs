//! The borrowers of a pool as all see them who ask on the same footing from another branch of the tree: what each team
//! offers, in one order, kept from one search to the next.
//!
//! A search used to ask every borrower for its terms; thousands of owners that recall loans in one plan asked thousands of
//! borrowers each. Here only the sides (top-level branches) whose use or units moved are asked again.
//!
//! Invariant: once [`Front::follow`] has followed the state, each side stands as [`super::herd`] would answer for it now,
//! on this footing. The asker's own side stands here too: whoever reads leaves it out and asks there himself. Nobody is
//! judged here.

use super::herd::{Herds, Offer};
use super::muster::Survey;
use super::rights::{Evictor, reclaims_at_root, terms};
use super::score::UnitKey;
use super::state::State;
use crate::policy::{Rebalance, ReclaimMode};
use crate::priority::Priority;
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;

/// How many fronts are kept: owners, borrowers of a class or two.
pub(super) const FRONTS: usize = 3;

/// The next unit of a team: its key, and the team.
pub(super) type Head = (UnitKey, usize);

/// All by which the terms of two askers from outside a branch may differ, beside the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Footing {
    pub(super) pool: usize,
    reclaims: bool,
    priority: Priority,
    inside: bool,
}

impl Footing {
    /// `None` where the order inside a herd is not the asker's, or nobody of another side may be asked at all.
    pub(super) fn of(state: &State<'_, '_>, evictor: &Evictor) -> Option<Self> {
        let policy = &state.problem.snapshot.policy;
        let kept = !evictor.may_overshoot
            && policy.rebalance == Rebalance::Off
            && evictor.as_of <= state.problem.now
            && evictor.milli > 0;
        if !kept {
            return None;
        }
        let reclaims = reclaims_at_root(state, evictor);
        let priority = state.problem.jobs[evictor.job].job.priority;
        let priority = if reclaims && policy.reclaim == ReclaimMode::Any { Priority(0) } else { priority };
        Some(Self { pool: evictor.pool, reclaims, priority, inside: evictor.inside })
    }
}

/// One side's part of the front.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Side {
    survey: Survey,
    heads: Vec<Head>,
}

#[derive(Debug, Default)]
pub(super) struct Front {
    footing: Option<Footing>,
    /// By tree node; only top-level ones have any.
    sides: Vec<Side>,
    order: BTreeSet<Head>,
    /// Of all sides; without the first end of a protection.
    total: Survey,
    hits: usize,
    protected: BTreeSet<(DateTime<Utc>, usize)>,
    pub(super) used_at: u64,
}

impl Front {
    pub(super) fn is_on(&self, footing: Footing) -> bool {
        self.footing == Some(footing)
    }

    /// Begins anew on another footing; every side is still to be asked.
    pub(super) fn stand_on(&mut self, state: &mut State<'_, '_>, slot: usize, footing: Footing) {
        let nodes = state.tree.root + 1;
        *self = Self { footing: Some(footing), sides: vec![Side::default(); nodes], ..Self::default() };
        state.sides.watch(slot, footing.pool, &state.tree);
    }

    /// Asks the sides that moved since the last time.
    pub(super) fn follow(
        &mut self,
        state: &mut State<'_, '_>,
        herds: &mut Herds,
        slot: usize,
        evictor: &Evictor,
    ) {
        let own = state.sides.of[evictor.team];
        for side in state.sides.take(slot) {
            if side == own {
                // On which terms others would meet its teams is not the evictor's to find out.
                state.sides.put_back(slot, side);
                self.set(side, Side::default());
                continue;
            }
            let asked = ask(state, herds, evictor, side);
            self.set(side, asked);
        }
    }

    fn set(&mut self, side: usize, new: Side) {
        let old = std::mem::replace(&mut self.sides[side], new.clone());
        if old == new {
            return;
        }
        for head in &old.heads {
            self.order.remove(head);
        }
        self.order.extend(&new.heads);
        self.total.subtract(&old.survey);
        self.total.add_counts(&new.survey);
        self.hits -= usize::from(old.survey.hits_a_guarantee);
        self.hits += usize::from(new.survey.hits_a_guarantee);
        if let Some(until) = old.survey.protected_until {
            self.protected.remove(&(until, side));
        }
        if let Some(until) = new.survey.protected_until {
            self.protected.insert((until, side));
        }
    }

    /// What is true of all units of other sides than this one together.
    pub(super) fn survey(&self, without: usize) -> Survey {
        let own = &self.sides[without].survey;
        let mut survey = self.total;
        survey.subtract(own);
        survey.hits_a_guarantee = self.hits > usize::from(own.hits_a_guarantee);
        survey.protected_until =
            self.protected.iter().find(|(_, side)| *side != without).map(|(until, _)| *until);
        survey
    }

    /// The first head after one, of other sides than this one.
    pub(super) fn next(&self, of: &[usize], after: Option<&Head>, without: usize) -> Option<Head> {
        use std::ops::Bound;
        let from = after.map_or(Bound::Unbounded, |head| Bound::Excluded(*head));
        self.order.range((from, Bound::Unbounded)).find(|(_, team)| of[*team] != without).copied()
    }
}

/// What the borrowers of a side offer.
fn ask(state: &State<'_, '_>, herds: &mut Herds, evictor: &Evictor, side: usize) -> Side {
    let mut asked = Side::default();
    let above = &state.above[evictor.pool];
    for &team in state.sides.teams(side).iter().filter(|team| above.contains(team)) {
        let Some(terms) = terms(state, evictor, team) else { continue };
        let offer: Offer = herds.offer(state, evictor, (team, terms));
        asked.survey.add(&offer, false);
        asked.heads.extend(offer.first_on(&terms, state, evictor.pool).map(|key| (key, team)));
    }
    asked
}
