//! What leaves together, and sets of it.
//!
//! Nothing is chosen here: that is [`super::victims`]'s.

use super::problem::Hold;
use super::rights::Right;
use super::score::UnitKey;
use super::state::State;
use chrono::{DateTime, Utc};

/// What leaves as one: a gang with all that is left of it, or one surplus member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unit {
    pub(super) job: usize,
    /// The position of the surplus member among the job's members.
    pub(super) surplus: Option<usize>,
}

impl Unit {
    /// What a placed job consists of. Rule 2.7 and P8: what is never evicted is no unit.
    pub(super) fn all_of(state: &State<'_, '_>, job: usize) -> impl Iterator<Item = Self> {
        let row = &state.problem.jobs[job];
        let base = row.job.min_replicas.max(1) as usize;
        let may_shrink = !row.surplus_never_evicted && !row.job.never_evict;
        let surplus = state.jobs[job].staying().skip(base).filter(move |_| may_shrink);
        let gang = !row.base_never_evicted && state.jobs[job].staying().next().is_some();
        surplus
            .map(move |(at, _)| Self { job, surplus: Some(at) })
            .chain(gang.then_some(Self { job, surplus: None }))
    }

    /// A start of this very plan: it is taken back, not evicted. As of a later moment it runs like any other.
    pub(super) fn starts_now(self, state: &State<'_, '_>, as_of: DateTime<Utc>) -> bool {
        state.jobs[self.job].fresh && as_of <= state.problem.now
    }

    /// Nothing of it is left that was not asked to leave.
    pub(super) fn is_gone(self, state: &State<'_, '_>) -> bool {
        match self.surplus {
            Some(at) => state.jobs[self.job].members.get(at).is_none_or(|member| member.leaving),
            None => state.jobs[self.job].staying().next().is_none(),
        }
    }

    /// The nodes where it has staying members.
    pub(super) fn nodes(self, state: &State<'_, '_>) -> impl Iterator<Item = usize> {
        let staying = state.jobs[self.job].staying();
        let of_unit = staying.filter(move |(at, _)| self.surplus.is_none_or(|own| own == *at));
        of_unit.map(|(_, member)| member.hold.node)
    }

    /// Positions of the members that would leave.
    pub(super) fn members(self, state: &State<'_, '_>) -> Vec<usize> {
        match self.surplus {
            Some(at) => vec![at],
            None => state.jobs[self.job].staying().map(|(at, _)| at).collect(),
        }
    }

    pub(super) fn milli(self, state: &State<'_, '_>) -> i64 {
        match self.surplus {
            Some(at) => state.jobs[self.job].members[at].milli,
            None => state.jobs[self.job].staying().map(|(_, member)| member.milli).sum(),
        }
    }
}

/// A unit that was chosen, and what it let go.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    pub(super) key: UnitKey,
    pub(super) right: Right,
    pub(super) members: Vec<usize>,
}

/// Where a job that moves runs again.
#[derive(Debug, Clone)]
pub(super) struct Home {
    pub(super) job: usize,
    pub(super) holds: Vec<Hold>,
}

/// Victims and the space they make.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) victims: Vec<Chosen>,
    pub(super) holds: Vec<Hold>,
    /// Where victims who only move run again.
    pub(super) homes: Vec<Home>,
    /// How many units could have been chosen before the first was.
    pub(super) candidates: usize,
    /// The first of them whose job was not chosen.
    pub(super) runner_up: Option<UnitKey>,
}

impl Found {
    /// Room that needs no victims.
    pub(super) const fn without_victims(holds: Vec<Hold>) -> Self {
        Self { victims: Vec::new(), holds, homes: Vec::new(), candidates: 0, runner_up: None }
    }
}

impl Chosen {
    pub(super) fn members(&self) -> &[usize] {
        &self.members
    }
}
