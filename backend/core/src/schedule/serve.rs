//! Serves one job: on idle GPUs in one of its pools, else by evictions with a nomination, else not.
//!
//! Of several acceptable pools: idle before eviction, inside guarantee before loan, then the job's own
//! order (rule 5.1). This module does not say who is next.

use super::backfill::{Backlog, is_worth_keeping};
use super::consolidate;
use super::draft::Draft;
use super::fit::{self, Among, Budget, OutOfBudget};
use super::herd::Herds;
use super::nominate;
use super::problem::{Hold, Index, Problem};
use super::rights::{self, Evictor};
use super::space::{Count, View};
use super::state::State;
use super::stow::Stows;
use super::unit::Found;
use super::victims::Search;
use crate::policy::Placement;
use crate::reason::ExpectedStart;
use chrono::{DateTime, Utc};
use std::rc::Rc;

/// Steps of one search for a place, and of one for victims.
const PLACE_STEPS: u64 = 200_000;
const VICTIM_STEPS: u64 = 400_000;
/// Searches for an earlier end of protections: enough for 64 different ends.
const EARLIER_SEARCHES: usize = 6;

/// Steps of all searches for victims in one plan: a cluster on which every search is long must not make the
/// cycle long. Who comes later in the order of service is told that the budget was exhausted.
const ALL_VICTIM_STEPS: u64 = 10_000_000;

/// What became of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Served {
    Started,
    Nominated,
    Blocked,
}

/// What was learned about a job that could not be served.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Notes {
    pub(super) out_of_budget: bool,
    /// Evictions are possible, but only once a minimum run time is over.
    pub(super) protected_until: Option<DateTime<Utc>>,
    /// What all possible victims hold together.
    pub(super) takeable_milli: i64,
    /// There is space, kept for planned starts before which the job would not have ended.
    pub(super) behind_planned: bool,
    /// Ending in so many seconds, it would pass them.
    pub(super) would_pass_secs: Option<i64>,
    /// What it would pass is a reservation.
    pub(super) reservation: Option<usize>,
}

/// Everything that serving needs beside the state.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) draft: Draft,
    /// By class and pool: the round in which it found no open place. Holds until something is given back:
    /// then a new round begins.
    no_open: Vec<u32>,
    round: u32,
    /// The same beside what is kept for planned starts: the round, the backlog's version, and how many bound.
    no_beside: Vec<(u32, u32, usize)>,
    /// By class and pool: the round in which no moves made room, and for a job of which priority at most.
    no_move: Vec<(u32, i32)>,
    pub(super) backlog: Backlog,
    herds: Herds,
    stows: Stows,
    victim_steps: Budget,
    /// By job: notes of the last attempt, where there are any.
    notes: Index<usize, Notes>,
    /// Owners for whom space is held.
    held: Vec<usize>,
    /// Starts of this plan that were just taken back.
    pub(super) withdrawn: Vec<usize>,
    /// Some start of this plan was ever taken back.
    pub(super) took_back: bool,
}

impl Desk {
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        Self {
            draft: Draft::default(),
            no_open: vec![0; problem.classes.len() * problem.pools.len()],
            no_beside: vec![(0, 0, 0); problem.classes.len() * problem.pools.len()],
            no_move: vec![(0, 0); problem.classes.len() * problem.pools.len()],
            backlog: Backlog::new(),
            round: 1,
            herds: Herds::default(),
            stows: Stows::default(),
            victim_steps: Budget::new(ALL_VICTIM_STEPS),
            notes: Index::default(),
            held: Vec::new(),
            withdrawn: Vec::new(),
            took_back: false,
        }
    }

    pub(super) fn serve(&mut self, state: &mut State<'_, '_>, job: usize) -> Served {
        self.notes.remove(&job);
        if state.queue_limit(job, Count::Later).is_some() {
            return Served::Blocked;
        }
        let served = self.serve_now(state, job);
        if served == Served::Blocked {
            self.plan_ahead(state, job);
        }
        served
    }

    fn serve_now(&mut self, state: &mut State<'_, '_>, job: usize) -> Served {
        let pools = pools_in_order(state, job);
        let startable = state.queue_limit(job, Count::Both).is_none();
        for &pool in pools.iter().filter(|_| startable) {
            if let Some(holds) = self.open_place(state, job, pool) {
                state.start(job, pool, holds);
                return Served::Started;
            }
        }
        if !state.problem.jobs[job].job.evict_others {
            return Served::Blocked;
        }
        let mut protected: Vec<Evictor> = Vec::new();
        for &pool in &*pools {
            match self.make_room(state, job, pool, &mut protected) {
                Served::Blocked => {}
                served => return served,
            }
        }
        if protected.is_empty() && state.moves_left > 0 {
            for &pool in &*pools {
                match self.consolidate(state, job, pool) {
                    Served::Blocked => {}
                    served => return served,
                }
            }
        }
        for evictor in protected {
            if self.look_past_protection(state, evictor) {
                break;
            }
        }
        Served::Blocked
    }

    /// A place that is neither held nor promised, within quota.
    fn open_place(&mut self, state: &mut State<'_, '_>, job: usize, pool: usize) -> Option<Vec<Hold>> {
        let row = &state.problem.jobs[job];
        let known = row.class * state.problem.pools.len() + pool;
        let never = row.base_inside_only && !state.never_fits(job, pool, row.base_milli);
        if never || state.quota(job, pool, row.base_milli).is_err() || self.no_open[known] == self.round {
            return None;
        }
        let (round, version) = (self.round, self.backlog.version);
        let in_the_way = self.backlog.in_the_way(state, job, pool);
        let (starts, first) = (in_the_way.starts, (in_the_way.first, in_the_way.reservation));
        let failed = self.no_beside[known];
        if starts > 0 && failed.0 == round && failed.1 == version && failed.2 <= starts {
            self.note_behind_planned(state, job, first);
            return None;
        }
        let kept = in_the_way.holds.into_iter();
        state.space.hide(state.problem, kept, in_the_way.covers.into_iter().map(|cover| &cover.hold));
        state.space.open.settle(state.problem);
        let found = match self.stow(state, job, pool) {
            Some(stowed) => stowed,
            None => self.place(state, &state.space.open, job, pool),
        };
        state.space.show(state.problem);
        match (&found, starts) {
            (None, 0) => self.no_open[known] = round,
            (None, _) => {
                self.no_beside[known] = (round, version, starts);
                self.note_behind_planned(state, job, first);
            }
            (Some(_), _) => {}
        }
        found
    }

    /// By the mix, where the policy says so; `None` = by best fit.
    fn stow(&mut self, state: &mut State<'_, '_>, job: usize, pool: usize) -> Option<Option<Vec<Hold>>> {
        let problem = state.problem;
        let class = &problem.classes[problem.jobs[job].class];
        let by_mix = problem.snapshot.policy.placement == Placement::Mix && Stows::knows(class);
        if by_mix { self.stows.place(problem, &mut state.space.open, class, pool) } else { None }
    }

    /// Whether there is space but for what is kept is read off the settled state, when reasons are.
    fn note_behind_planned(
        &mut self,
        state: &State<'_, '_>,
        job: usize,
        (planned, reservation): (Option<DateTime<Utc>>, Option<usize>),
    ) {
        let notes = self.note(job);
        let begins = reservation.map(|at| state.problem.calendar.reservation(at).starts_at);
        notes.behind_planned = true;
        notes.reservation = reservation.filter(|_| planned.is_none() || begins <= planned);
        let first = if notes.reservation.is_some() { begins } else { planned };
        notes.would_pass_secs =
            first.map(|at| (at - state.problem.now).num_seconds()).filter(|&secs| secs > 0);
    }

    /// The first who wait for others' work to end get planned starts.
    fn plan_ahead(&mut self, state: &State<'_, '_>, job: usize) {
        if state.queue_limit(job, Count::Both).is_some() {
            return;
        }
        // An owner whose victims are protected has its space held already.
        if let Some(at) = self.notes(job).protected_until {
            self.backlog.expect(job, ExpectedStart::Leaving { at });
            return;
        }
        let is_worth = |&pool: &usize| is_worth_keeping(state, job, pool);
        if let Some(pool) = pools_in_order(state, job).iter().copied().find(is_worth) {
            self.backlog.plan(state, job, pool);
        }
    }

    fn place(&mut self, state: &State<'_, '_>, view: &View, job: usize, pool: usize) -> Option<Vec<Hold>> {
        let problem = state.problem;
        let class = &problem.classes[problem.jobs[job].class];
        let mut budget = Budget::new(PLACE_STEPS);
        let found = fit::place(problem, view, class, pool, class.members, Among::Working, &mut budget);
        if found.is_err() {
            self.note(job).out_of_budget = true;
        }
        found.ok().flatten()
    }

    /// Phase one of rule 2.6 simulates; phase two commits victims and nomination together.
    fn make_room(
        &mut self,
        state: &mut State<'_, '_>,
        job: usize,
        pool: usize,
        protected: &mut Vec<Evictor>,
    ) -> Served {
        let Some(evictor) = asking(state, job, pool) else { return Served::Blocked };
        // Nobody evicts for space that is kept for a planned start, nor takes it.
        let in_the_way = self.backlog.in_the_way(state, job, pool);
        let kept: Vec<Hold> = in_the_way.holds.into_iter().cloned().collect();
        let covers = in_the_way.covers.into_iter().cloned().collect();
        state.keep_clear_of(&kept, covers);
        let found = self.find_room(state, &evictor, protected);
        state.keep_clear_no_more(&kept);
        found.map_or(Served::Blocked, |found| self.commit(state, &evictor, &found))
    }

    /// Rule 5.10: a job with quota and no place gets one by moving others who have a home, beside all that is kept.
    fn consolidate(&mut self, state: &mut State<'_, '_>, job: usize, pool: usize) -> Served {
        let Some(evictor) = asking(state, job, pool) else { return Served::Blocked };
        let known = state.problem.jobs[job].class * state.problem.pools.len() + pool;
        let tried = (self.round, state.problem.jobs[job].priority);
        let hopeless = self.no_move[known].0 == tried.0 && self.no_move[known].1 >= tried.1;
        if hopeless || self.victim_steps.is_spent() || state.quota_later(job, pool, evictor.milli).is_err() {
            return Served::Blocked;
        }
        let kept: Vec<Hold> = self.backlog.holds().cloned().collect();
        let covers = self.backlog.covers().cloned().collect();
        state.keep_clear_of(&kept, covers);
        let mut budget = self.victim_steps.lend(VICTIM_STEPS);
        let found = consolidate::find(state, evictor, &mut budget);
        self.victim_steps.give_back(&budget);
        state.keep_clear_no_more(&kept);
        if found.is_err() {
            self.note(job).out_of_budget = true;
        }
        let Some(found) = found.ok().flatten() else {
            self.no_move[known] = tried;
            return Served::Blocked;
        };
        self.commit(state, &evictor, &found)
    }

    fn find_room(
        &mut self,
        state: &mut State<'_, '_>,
        evictor: &Evictor,
        protected: &mut Vec<Evictor>,
    ) -> Option<Found> {
        let problem = state.problem;
        let (job, pool) = (evictor.job, evictor.pool);
        let row = &problem.jobs[job];
        // Those who are leaving anyway may make enough room: nobody else is asked (C-23, C-58).
        let has_quota = state.quota_later(job, pool, row.base_milli).is_ok();
        if has_quota {
            state.space.later.settle(problem);
        }
        if has_quota && let Some(holds) = self.place(state, &state.space.later, job, pool) {
            let promised = evictor.inside && !problem.is_cpu_only(row.class);
            return promised.then(|| Found::without_victims(holds));
        }
        let found = self.search(state, *evictor);
        if found.is_none() && self.notes(job).protected_until.is_some() {
            protected.push(*evictor);
        }
        found
    }

    fn search(&mut self, state: &mut State<'_, '_>, evictor: Evictor) -> Option<Found> {
        if self.victim_steps.is_spent() {
            self.note(evictor.job).out_of_budget = true;
            return None;
        }
        let mut budget = self.victim_steps.lend(VICTIM_STEPS);
        let mut search = Search::new(state, &mut self.herds, evictor, &mut budget);
        let found = search.run();
        let (protected_until, takeable_milli) = (search.protected_until, search.takeable_milli);
        let notes = self.note(evictor.job);
        (notes.protected_until, notes.takeable_milli) = (protected_until, takeable_milli);
        notes.out_of_budget |= matches!(found, Err(OutOfBudget));
        self.victim_steps.give_back(&budget);
        found.ok().flatten()
    }

    /// Would it work once minimum run times are over? Then the plan looks again at the moment at which
    /// enough of them are, and an owner's space is held until then. Whether it would.
    fn look_past_protection(&mut self, state: &mut State<'_, '_>, evictor: Evictor) -> bool {
        self.note(evictor.job).protected_until = None;
        let mut ends = protection_ends(state, &evictor);
        let Some(last) = ends.pop() else { return false };
        let Some(mut found) = self.search_as_of(state, evictor, last) else { return false };
        // The earliest moment at which a set is free to go.
        let (mut low, mut high) = (0, ends.len());
        ends.push(last);
        for _ in 0..EARLIER_SEARCHES {
            if low >= high {
                break;
            }
            let middle = usize::midpoint(low, high);
            match self.search_as_of(state, evictor, ends[middle]) {
                Some(earlier) => (found, high) = (earlier, middle),
                None => low = middle + 1,
            }
        }
        let until = ends[high];
        state.look_again(until);
        self.note(evictor.job).protected_until = Some(until);
        if evictor.inside {
            state.hold(evictor.job, evictor.pool, found.holds, until);
            self.held.push(evictor.job);
        }
        true
    }

    fn search_as_of(
        &mut self,
        state: &mut State<'_, '_>,
        evictor: Evictor,
        as_of: DateTime<Utc>,
    ) -> Option<Found> {
        let mut budget = self.victim_steps.lend(VICTIM_STEPS);
        let evictor = Evictor { as_of, ..evictor };
        let found = Search::new(state, &mut self.herds, evictor, &mut budget).run();
        self.victim_steps.give_back(&budget);
        found.ok().flatten()
    }

    /// Space that was held for owners in this plan is judged anew.
    pub(super) fn release_held(&mut self, state: &mut State<'_, '_>) {
        for job in self.held.drain(..) {
            state.release_held(job);
        }
    }

    fn commit(&mut self, state: &mut State<'_, '_>, evictor: &Evictor, found: &Found) -> Served {
        let taken_back = found.victims.iter().map(|chosen| chosen.key.unit.job);
        self.withdrawn.extend(taken_back.filter(|&job| state.jobs[job].fresh));
        nominate::commit(state, &mut self.draft, evictor, found);
        self.forget_failures();
        if state.jobs[evictor.job].nominated.is_some() { Served::Nominated } else { Served::Started }
    }

    /// What was learned about a job when it was last looked at.
    pub(super) fn notes(&self, job: usize) -> Notes {
        self.notes.get(&job).copied().unwrap_or_default()
    }

    fn note(&mut self, job: usize) -> &mut Notes {
        self.notes.entry(job).or_default()
    }

    pub(super) fn forget_failures(&mut self) {
        self.round += 1;
    }
}

/// The job as one who asks others to leave; `None` where it may not even if they did.
fn asking(state: &State<'_, '_>, job: usize, pool: usize) -> Option<Evictor> {
    let row = &state.problem.jobs[job];
    if row.base_inside_only && !state.never_fits(job, pool, row.base_milli) {
        return None;
    }
    Some(Evictor {
        job,
        team: row.team?,
        pool,
        milli: row.base_milli,
        inside: state.inside_beside_held(job, pool).is_some(),
        may_overshoot: false,
        as_of: state.problem.now,
    })
}

/// When minimum run times end that stand in the evictor's way, earliest first.
fn protection_ends(state: &State<'_, '_>, evictor: &Evictor) -> Vec<DateTime<Utc>> {
    let now = state.problem.now;
    let teams = (0..state.of_team.len()).filter(|&team| rights::terms(state, evictor, team).is_some());
    let jobs = teams.flat_map(|team| state.of_team[team].iter().copied());
    let jobs = jobs.filter(|&job| state.jobs[job].pool == Some(evictor.pool));
    let ends = jobs.map(|job| state.problem.jobs[job].protected_until);
    let mut ends: Vec<DateTime<Utc>> = ends.filter(|&end| end > now).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// The job's pools, those inside guarantee first.
pub(super) fn pools_in_order(state: &State<'_, '_>, job: usize) -> Rc<[usize]> {
    let pools = &state.problem.jobs[job].pools;
    if pools.len() < 2 {
        return Rc::clone(pools);
    }
    let mut pools = pools.to_vec();
    pools.sort_by_key(|&pool| state.inside(job, pool).unwrap_or(usize::MAX));
    pools.into()
}
