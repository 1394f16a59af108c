//! When a pool has room for a gang, and its team the quota: both come back as time limits and graces end.
//!
//! The question is asked of *later*, in which everybody who was asked to leave has left and promises are kept; what
//! is found holds from the last of those moments on. A job without a time limit never ends here. This module
//! promises nothing to anybody.

use super::fit::{self, Among, Budget, OutOfBudget};
use super::ledger::Ledger;
use super::problem::Hold;
use super::space::View;
use super::state::State;
use chrono::{DateTime, TimeDelta, Utc};

/// A running job's end, by its time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    at: DateTime<Utc>,
    job: usize,
}

/// Where a gang will have room, and from when.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    pub(super) at: DateTime<Utc>,
    /// Whose time limit makes the room; `None` = those who are leaving already.
    pub(super) after: Option<usize>,
    pub(super) holds: Vec<Hold>,
}

/// Known ends in one pool.
#[derive(Debug)]
pub(super) struct Timeline {
    pool: usize,
    ends: Vec<End>,
    /// Running jobs whose end nobody knows.
    pub(super) endless: u32,
}

/// The pool after some ends.
#[derive(Clone)]
struct Moment {
    view: View,
    use_: Ledger,
    /// How many ends have come.
    ended: usize,
}

impl Timeline {
    pub(super) fn new(state: &State<'_, '_>, pool: usize) -> Self {
        let mut ends = Vec::new();
        let mut endless = 0;
        for (job, sim) in state.jobs.iter().enumerate() {
            if sim.pool != Some(pool) || sim.staying().next().is_none() {
                continue;
            }
            match end_of(state, job) {
                Some(at) => ends.push(End { at, job }),
                None => endless += 1,
            }
        }
        ends.sort_unstable();
        Self { pool, ends, endless }
    }

    /// The earliest moment at which the job's gang fits beside what others, each with its holds, are promised, and beside
    /// what is reserved.
    pub(super) fn first_opening<'h>(
        &self,
        state: &State<'_, '_>,
        job: usize,
        promised: impl Iterator<Item = (usize, &'h [Hold])>,
        reserved: impl Iterator<Item = &'h Hold>,
        budget: &mut Budget,
    ) -> Result<Option<Opening>, OutOfBudget> {
        let mut moment =
            Moment { view: state.space.later.clone(), use_: state.later[self.pool].clone(), ended: 0 };
        for (other, holds) in promised {
            self.charge(state, &mut moment.use_, other, state.problem.jobs[other].base_milli);
            for hold in holds {
                moment.view.change(state.problem, hold, -1);
            }
        }
        for hold in reserved {
            moment.view.change(state.problem, hold, -1);
        }
        // Doubling finds an interval, halving the moment in it: a place that exists stays when more ends.
        let mut found = self.place(state, &mut moment, job, budget)?;
        if found.is_none() && self.ends.is_empty() {
            return Ok(None);
        }
        let mut before = moment.clone();
        let mut step = 1;
        while found.is_none() && moment.ended < self.ends.len() {
            before = moment.clone();
            self.pass(state, &mut moment, step, budget)?;
            found = self.place(state, &mut moment, job, budget)?;
            step *= 2;
        }
        let Some(mut holds) = found else { return Ok(None) };
        let mut high = moment.ended;
        while high > before.ended + 1 {
            let mut middle = before.clone();
            self.pass(state, &mut middle, (high - before.ended) / 2, budget)?;
            match self.place(state, &mut middle, job, budget)? {
                Some(earlier) => (high, holds) = (middle.ended, earlier),
                None => before = middle,
            }
        }
        Ok(Some(self.opening(state, high, holds)))
    }

    /// Lets the next `count` ends come.
    fn pass(
        &self,
        state: &State<'_, '_>,
        moment: &mut Moment,
        count: usize,
        budget: &mut Budget,
    ) -> Result<(), OutOfBudget> {
        let until = (moment.ended + count).min(self.ends.len());
        budget.spend(until - moment.ended)?;
        for end in &self.ends[moment.ended..until] {
            for (_, member) in state.jobs[end.job].staying() {
                moment.view.change(state.problem, &member.hold, 1);
                self.charge(state, &mut moment.use_, end.job, -member.milli);
            }
        }
        moment.ended = until;
        Ok(())
    }

    fn charge(&self, state: &State<'_, '_>, ledger: &mut Ledger, job: usize, milli: i64) {
        if let Some(team) = state.problem.jobs[job].team {
            ledger.add(&state.tree, &state.limits[self.pool], team, milli);
        }
    }

    fn place(
        &self,
        state: &State<'_, '_>,
        moment: &mut Moment,
        job: usize,
        budget: &mut Budget,
    ) -> Result<Option<Vec<Hold>>, OutOfBudget> {
        let problem = state.problem;
        let row = &problem.jobs[job];
        let Some(team) = row.team else { return Ok(None) };
        if moment.use_.fits(&state.tree, &state.limits[self.pool], team, row.base_milli).is_err() {
            return Ok(None);
        }
        moment.view.settle(problem);
        let class = &problem.classes[row.class];
        fit::place(problem, &moment.view, class, self.pool, class.members, Among::Working, budget)
    }

    fn opening(&self, state: &State<'_, '_>, ended: usize, holds: Vec<Hold>) -> Opening {
        let leaving = last_to_leave(state, &holds).unwrap_or(state.problem.now);
        match ended.checked_sub(1).map(|last| self.ends[last]) {
            Some(end) if end.at > leaving => Opening { at: end.at, after: Some(end.job), holds },
            _ => Opening { at: leaving, after: None, holds },
        }
    }
}

/// When a placed job ends at the latest. One that is over its limit already is about to be stopped.
pub(super) fn end_of(state: &State<'_, '_>, job: usize) -> Option<DateTime<Utc>> {
    let problem = state.problem;
    let row = &problem.jobs[job];
    let limit = TimeDelta::try_seconds(row.job.time_limit_secs?)?;
    let started = if state.jobs[job].fresh { problem.now } else { row.started_at };
    let at = started.checked_add_signed(limit)?;
    let grace = TimeDelta::seconds(problem.rules(job).grace_secs.max(1));
    Some(if at > problem.now { at } else { problem.now + grace })
}

/// The last grace of those who leave the nodes of these holds.
pub(super) fn last_to_leave(state: &State<'_, '_>, holds: &[Hold]) -> Option<DateTime<Utc>> {
    let problem = state.problem;
    let on_nodes = holds.iter().flat_map(|hold| state.on_node[hold.node].iter());
    let leave_by = |&job: &usize| {
        let members = &problem.jobs[job].job.members;
        let known = members.iter().filter_map(|member| Some(member.leaving.as_ref()?.leave_by));
        let leaving = |members: &mut dyn Iterator<Item = bool>| members.filter(|&leaving| leaving).count();
        let newly = leaving(&mut state.jobs[job].members.iter().map(|member| member.leaving))
            > leaving(&mut problem.jobs[job].members.iter().map(|member| member.leaving));
        let newly = newly.then(|| problem.now + TimeDelta::seconds(problem.rules(job).grace_secs.max(0)));
        known.chain(newly).max()
    };
    on_nodes.filter_map(leave_by).max()
}
