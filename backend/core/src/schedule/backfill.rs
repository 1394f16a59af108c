//! Backfill (product rule 5.8): the first jobs that wait for space get planned starts; a later job may start only
//! where it does not touch their space, or when it ends before.
//!
//! Planned starts are worked out anew in each pass, in the order of service, and bind nobody who is served before.
//! A job that has waited for longer than the starvation limit without a known start keeps the space it is likeliest
//! to get from being refilled. This module evicts nobody.

use super::calendar;
use super::cover::{Cover, covers};
use super::fit::Budget;
use super::ledger::Short;
use super::plan::PlannedStart;
use super::problem::Hold;
use super::reserve::{self, Reserved};
use super::space::Count;
use super::state::State;
use super::timeline::Timeline;
use crate::policy::Backfill;
use crate::reason::ExpectedStart;
use chrono::{DateTime, TimeDelta, Utc};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Steps of the search for one planned start, and of all in one pass.
const PLAN_STEPS: u64 = 200_000;
const ALL_PLAN_STEPS: u64 = 1_000_000;

/// A job that waits for space, and what is kept for it.
#[derive(Debug, Clone)]
struct Kept {
    job: usize,
    pool: usize,
    /// `None` = unknown: it starves, and its space is kept whatever others' limits say.
    at: Option<DateTime<Utc>>,
    /// Empty where the start lies beyond the window.
    holds: Vec<Hold>,
    /// Who leaves the holds in time.
    covers: Vec<Cover>,
}

/// The planned starts of this pass.
#[derive(Debug)]
pub(super) struct Backlog {
    kept: Vec<Kept>,
    /// What is kept for reservations, beside all of that.
    reserved: Vec<Reserved>,
    /// By job that waits for space.
    expected: BTreeMap<usize, ExpectedStart>,
    steps: Budget,
    /// When the first of those without a known start begins to starve.
    pub(super) starves_at: Option<DateTime<Utc>>,
    /// Another number whenever more is kept.
    pub(super) version: u32,
}

/// What a job must keep clear of, were it to start now.
#[derive(Default)]
pub(super) struct InTheWay<'b> {
    pub(super) holds: Vec<&'b Hold>,
    /// Parts of it that are not free now and will be in time.
    pub(super) covers: Vec<&'b Cover>,
    /// How many planned starts that are; they are the same for equal numbers while [`Backlog::version`] is.
    pub(super) starts: usize,
    /// The first of them, where it is known.
    pub(super) first: Option<DateTime<Utc>>,
    /// A reservation among them, the first to begin.
    pub(super) reservation: Option<usize>,
}

impl Backlog {
    pub(super) fn new() -> Self {
        Self {
            kept: Vec::new(),
            reserved: Vec::new(),
            expected: BTreeMap::new(),
            steps: Budget::new(ALL_PLAN_STEPS),
            starves_at: None,
            version: 0,
        }
    }

    /// A new pass plans anew, beside what is reserved.
    pub(super) fn begin(&mut self, state: &State<'_, '_>) {
        self.kept.clear();
        self.reserved = reserve::reserve(state);
        self.expected.clear();
        self.starves_at = None;
        self.steps = Budget::new(ALL_PLAN_STEPS);
        self.version += 1;
    }

    pub(super) fn expected(&self, job: usize) -> Option<ExpectedStart> {
        self.expected.get(&job).copied()
    }

    pub(super) fn expect(&mut self, job: usize, start: ExpectedStart) {
        self.expected.insert(job, start);
    }

    /// Planned starts before which the job, were it to start now, would not have ended.
    pub(super) fn in_the_way(&self, state: &State<'_, '_>, job: usize, pool: usize) -> InTheWay<'_> {
        if self.kept.is_empty() && self.reserved.is_empty() {
            return InTheWay::default();
        }
        let limit = state.problem.jobs[job].job.time_limit_secs.and_then(TimeDelta::try_seconds);
        let ends = limit.and_then(|limit| state.problem.now.checked_add_signed(limit));
        let ends_before = |at: Option<DateTime<Utc>>| at.zip(ends).is_some_and(|(at, ends)| ends <= at);
        let binding = self.kept.iter().filter(|kept| kept.pool == pool && !kept.holds.is_empty());
        let binding: Vec<&Kept> = binding.filter(|kept| !ends_before(kept.at)).collect();
        // The same ones for all jobs of a class.
        let reserved: Vec<&Reserved> = reserve::in_the_way(&self.reserved, state, job, pool).collect();
        InTheWay {
            starts: binding.len() + reserved.len(),
            first: binding.iter().map(|kept| kept.at).min().flatten(),
            reservation: reserved.first().map(|reserved| reserved.reservation),
            holds: reserved
                .iter()
                .flat_map(|kept| &kept.holds)
                .chain(binding.iter().flat_map(|kept| &kept.holds))
                .collect(),
            covers: reserved
                .iter()
                .flat_map(|kept| &kept.covers)
                .chain(binding.iter().flat_map(|kept| &kept.covers))
                .collect(),
        }
    }

    /// Plans the start of a job that others' work keeps from starting.
    pub(super) fn plan(&mut self, state: &State<'_, '_>, job: usize, pool: usize) {
        let Backfill::On { planned_jobs, starvation_limit_secs, window_secs } =
            state.problem.snapshot.policy.backfill
        else {
            return;
        };
        let planned = self.kept.iter().filter(|kept| kept.pool == pool).count();
        if planned >= planned_jobs as usize {
            let jobs = u32::try_from(planned).unwrap_or(u32::MAX);
            self.expected.insert(job, ExpectedStart::BehindPlanned { jobs });
            return;
        }
        let problem = state.problem;
        let row = &problem.jobs[job];
        let timeline = Timeline::new(state, pool);
        let ahead = self.kept.iter().filter(|kept| kept.pool == pool);
        let ahead = ahead.map(|kept| (kept.job, kept.holds.as_slice()));
        let mut budget = self.steps.lend(PLAN_STEPS);
        let opening = calendar::first_opening(state, &timeline, job, ahead, &self.reserved, &mut budget);
        self.steps.give_back(&budget);
        let Ok(opening) = opening else {
            self.expected.insert(job, ExpectedStart::SearchBudgetExhausted);
            return;
        };
        let Some(opening) = opening else {
            if timeline.endless > 0 || problem.classes[row.class].bound.is_empty() {
                self.expected.insert(job, ExpectedStart::NoTimeLimits { jobs: timeline.endless });
            }
            let starves_at = starvation_limit_secs
                .and_then(TimeDelta::try_seconds)
                .and_then(|limit| row.job.submitted_at.checked_add_signed(limit));
            if starves_at.is_some_and(|at| at > problem.now) {
                self.starves_at = self.starves_at.into_iter().chain(starves_at).min();
            } else if starves_at.is_some() {
                let nodes: BTreeSet<usize> = self.holds().map(|hold| hold.node).collect();
                self.keep(Kept {
                    job,
                    pool,
                    at: None,
                    holds: likeliest(state, job, pool, &nodes),
                    covers: Vec::new(),
                });
            }
            return;
        };
        let at = opening.at;
        let expected = match opening.after {
            Some(after) => ExpectedStart::TimeLimit { at, job: problem.jobs[after].job.id },
            None => ExpectedStart::Leaving { at },
        };
        self.expected.insert(job, expected);
        let binds = at <= problem.now + TimeDelta::seconds(window_secs.max(0));
        let holds = if binds { opening.holds } else { Vec::new() };
        let known = self.kept.iter().flat_map(|kept| &kept.covers).cloned();
        let covers = covers(state, &holds, at, known);
        self.keep(Kept { job, pool, at: Some(at), holds, covers });
    }

    fn keep(&mut self, kept: Kept) {
        self.kept.push(kept);
        self.version += 1;
    }

    /// Whether one more member of a growing job would use up the quota, or the queue's limit, with which a planned start
    /// waits: the next plan would keep nothing for that one.
    pub(super) fn is_spoilt_by_one_more(&self, state: &mut State<'_, '_>, job: usize, pool: usize) -> bool {
        let mut kept = self.kept.iter().filter(|kept| kept.pool == pool).peekable();
        kept.peek().is_some()
            && state
                .with_one_more(job, pool, |state| kept.any(|kept| !is_worth_keeping(state, kept.job, pool)))
    }

    /// All that is kept.
    pub(super) fn holds(&self) -> impl Iterator<Item = &Hold> {
        let reserved = self.reserved.iter().flat_map(|reserved| &reserved.holds);
        reserved.chain(self.kept.iter().flat_map(|kept| &kept.holds))
    }

    pub(super) fn covers(&self) -> impl Iterator<Item = &Cover> {
        let reserved = self.reserved.iter().flat_map(|reserved| &reserved.covers);
        reserved.chain(self.kept.iter().flat_map(|kept| &kept.covers))
    }

    /// For the plan.
    pub(super) fn planned(&self, state: &State<'_, '_>) -> Vec<PlannedStart> {
        let problem = state.problem;
        let planned = self.kept.iter().map(|kept| PlannedStart {
            job: problem.jobs[kept.job].job.id,
            pool: problem.pools[kept.pool],
            at: kept.at,
            members: kept.holds.iter().zip(0..).map(|(hold, index)| problem.placement(index, hold)).collect(),
        });
        planned.collect()
    }
}

/// Whether the job waits for others' work to end. A team at its own cap, or a queue at its limit, waits for itself: nobody
/// is kept out for it.
pub(super) fn is_worth_keeping(state: &State<'_, '_>, job: usize, pool: usize) -> bool {
    let row = &state.problem.jobs[job];
    let never = row.base_inside_only && !state.never_fits(job, pool, row.base_milli);
    !never
        && state.queue_limit(job, Count::Both).is_none()
        && !matches!(state.quota_later(job, pool, row.base_milli), Err(Short::Cap { .. }))
}

/// The nodes on which a starving gang is likeliest to find room: those with the most free GPUs, except `kept` ones. All
/// GPUs that can become free are kept, so that a node can only become emptier; none if even they would not suffice.
fn likeliest(state: &State<'_, '_>, job: usize, pool: usize, kept: &BTreeSet<usize>) -> Vec<Hold> {
    let problem = state.problem;
    let class = &problem.classes[problem.jobs[job].class];
    let devices = class.shape.gpus.devices().max(1) as usize;
    let open = &state.space.open;
    let usable = |node: &usize| class.node_ok[*node] && !kept.contains(node);
    let mut nodes: Vec<usize> = problem.pool_nodes[pool].iter().copied().filter(usable).collect();
    nodes.sort_by_key(|&node| (Reverse(open.whole[node]), node));
    let mut holds = Vec::new();
    let mut members = class.members as usize;
    for node in nodes {
        if members == 0 {
            break;
        }
        let mut hold = problem.whole_node(node);
        let stays = never_leaving(state, node);
        hold.slices.retain(|slice| !stays.contains(&slice.gpu));
        let fit = hold.slices.len() / devices;
        if fit > 0 {
            members = members.saturating_sub(fit);
            holds.push(hold);
        }
    }
    if members == 0 { holds } else { Vec::new() }
}

/// GPUs of a node that never-evicted work without a time limit holds: nobody can wait for them.
fn never_leaving(state: &State<'_, '_>, node: usize) -> BTreeSet<usize> {
    let problem = state.problem;
    let stays = |&&job: &&usize| {
        let row = &problem.jobs[job];
        row.base_never_evicted && row.job.time_limit_secs.is_none()
    };
    let members = state.on_node[node].iter().filter(stays).flat_map(|&job| &state.jobs[job].members);
    let here = members.filter(|member| member.hold.node == node && !member.leaving);
    here.flat_map(|member| member.hold.slices.iter().map(|slice| slice.gpu)).collect()
}
