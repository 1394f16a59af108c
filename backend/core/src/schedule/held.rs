//! Space that is held, within one plan, for owners who wait for the end of minimum run times.
//!
//! Nothing of it is stored: each plan finds it anew. Quota is not touched, but nobody else recalls loans with the part
//! of the guarantee in which it lies.

use super::problem::Hold;
use super::space::Count;
use super::state::State;
use chrono::{DateTime, Utc};

/// Space that nobody gets while an owner waits for the end of its victims' minimum run times.
#[derive(Debug, Clone)]
pub(super) struct Held {
    holds: Vec<Hold>,
    pub(super) pool: usize,
    pub(super) until: DateTime<Utc>,
    /// What of it is free already.
    pub(super) free_milli: i64,
    /// The node of the tree inside whose guarantee it lies.
    pub(super) owner: usize,
}

impl State<'_, '_> {
    /// Keeps a place for an owner that has no victims yet; quota it has anyway, and its victims' is not
    /// given back yet. Nothing is decided by that: the next plan looks anew.
    pub(super) fn hold(&mut self, job: usize, pool: usize, holds: Vec<Hold>, until: DateTime<Utc>) {
        let row = &self.problem.jobs[job];
        let steps = self.inside_beside_held(job, pool).unwrap_or(0);
        let owner = row.team.and_then(|team| self.tree.path(team).nth(steps)).unwrap_or(self.tree.root);
        let slices = holds.iter().flat_map(|hold| &hold.slices);
        let free_milli = slices.map(|slice| self.space.open.gpu_milli[slice.gpu].clamp(0, slice.milli)).sum();
        for hold in &holds {
            self.space.take(self.problem, hold, Count::Later);
        }
        self.count_held(pool, owner, row.base_milli);
        self.jobs[job].held = Some(Box::new(Held { holds, pool, until, free_milli, owner }));
    }

    pub(super) fn release_held(&mut self, job: usize) {
        let Some(held) = self.jobs[job].held.take() else { return };
        self.count_held(held.pool, held.owner, -self.problem.jobs[job].base_milli);
        for hold in &held.holds {
            self.space.give(self.problem, hold, Count::Later);
        }
    }
    fn count_held(&mut self, pool: usize, owner: usize, milli: i64) {
        for node in self.tree.path(owner) {
            self.held_milli[pool][node] += milli;
        }
    }

    /// As [`State::inside`], for who would recall loans: what is held for others of its branch is theirs.
    pub(super) fn inside_beside_held(&self, job: usize, pool: usize) -> Option<usize> {
        let row = &self.problem.jobs[job];
        if row.base_milli <= 0 {
            return self.inside(job, pool);
        }
        let (used, held) = (&self.later[pool].used, &self.held_milli[pool]);
        let guaranteed = &self.limits[pool].guaranteed;
        self.tree
            .path(row.team?)
            .position(|node| used[node] + held[node] + row.base_milli <= guaranteed[node])
    }
}
