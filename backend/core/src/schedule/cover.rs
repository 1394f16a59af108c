//! What of the space of a planned start those hold now who end before it.
//!
//! A planned start asks for its space at its moment, not now: until then, what they hold stays theirs, and what is
//! free beside them is anybody's. If one of them is evicted earlier, its part is the planned start's all the same.
//! This module plans nothing.

use super::problem::{Hold, Slice};
use super::space::Count;
use super::state::State;
use super::timeline::end_of;
use chrono::{DateTime, Utc};

/// A part of a planned start's space that a member of a job leaves to it in time.
#[derive(Debug, Clone)]
pub(super) struct Cover {
    pub(super) job: usize,
    /// The member's position.
    pub(super) at: usize,
    pub(super) hold: Hold,
}

/// Who leaves these holds by the moment `until`, and how much; what others are relied on for (`known`) counts once.
pub(super) fn covers(
    state: &State<'_, '_>,
    holds: &[Hold],
    until: DateTime<Utc>,
    known: impl Iterator<Item = Cover>,
) -> Vec<Cover> {
    let mut all: Vec<Cover> = known.collect();
    let before = all.len();
    for wanted in holds {
        let mut open = wanted.clone();
        let here = state.on_node[wanted.node].iter();
        let mut ends: Vec<(DateTime<Utc>, usize)> = here
            .filter_map(|&job| Some((end_of(state, job)?, job)))
            .filter(|(end, _)| *end <= until)
            .collect();
        ends.sort_unstable();
        for (_, job) in ends {
            for (at, member) in
                state.jobs[job].staying().filter(|(_, member)| member.hold.node == wanted.node)
            {
                let mut rest = member.hold.clone();
                let relied_on = all.iter().filter(|cover| (cover.job, cover.at) == (job, at));
                relied_on.for_each(|cover| subtract(&mut rest, &cover.hold));
                let hold = least(&open, &rest);
                if hold.cpu > 0 || hold.memory > 0 || !hold.slices.is_empty() {
                    subtract(&mut open, &hold);
                    all.push(Cover { job, at, hold });
                }
            }
        }
    }
    all.split_off(before)
}

fn subtract(from: &mut Hold, what: &Hold) {
    from.cpu -= what.cpu;
    from.memory -= what.memory;
    for slice in &mut from.slices {
        for part in what.slices.iter().filter(|part| part.gpu == slice.gpu) {
            slice.milli -= part.milli;
            slice.memory -= part.memory;
        }
    }
}

fn least(left: &Hold, right: &Hold) -> Hold {
    let part = |slice: &Slice| {
        let other = right.slices.iter().find(|other| other.gpu == slice.gpu)?;
        let (milli, memory) = (slice.milli.min(other.milli).max(0), slice.memory.min(other.memory).max(0));
        (milli > 0 || memory > 0).then_some(Slice { gpu: slice.gpu, milli, memory })
    };
    Hold {
        node: left.node,
        slices: left.slices.iter().filter_map(part).collect(),
        cpu: left.cpu.min(right.cpu).max(0),
        memory: left.memory.min(right.memory).max(0),
    }
}

impl State<'_, '_> {
    /// Keeps the space of planned starts out of what is free later, while somebody looks for victims.
    pub(super) fn keep_clear_of(&mut self, holds: &[Hold], covers: Vec<Cover>) {
        holds.iter().for_each(|hold| self.space.take(self.problem, hold, Count::Later));
        covers.iter().for_each(|cover| self.space.give(self.problem, &cover.hold, Count::Later));
        self.covers = covers;
    }

    /// Undoes [`Self::keep_clear_of`].
    pub(super) fn keep_clear_no_more(&mut self, holds: &[Hold]) {
        let covers = std::mem::take(&mut self.covers);
        covers.iter().for_each(|cover| self.space.take(self.problem, &cover.hold, Count::Later));
        holds.iter().for_each(|hold| self.space.give(self.problem, hold, Count::Later));
    }

    /// A member on whom a planned start relies leaves early, or stays after all: its part is not free meanwhile.
    pub(super) fn note_early_leave(&mut self, job: usize, at: usize, leaving: bool) {
        for cover in self.covers.iter().filter(|cover| (cover.job, cover.at) == (job, at)) {
            if leaving {
                self.space.take(self.problem, &cover.hold, Count::Later);
            } else {
                self.space.give(self.problem, &cover.hold, Count::Later);
            }
        }
    }
}
