//! Victim sets: the whole is simulated before anyone is asked to leave.
//!
//! Room is made member by member, on the node where the best set does it; then quota is made; then
//! every victim that turned out needless is given back and the rest is judged again. A set that does
//! not let the full gang start on concrete GPUs is no set. This module commits nothing.

mod chosen;

use super::fit::{self, Among, Budget, OutOfBudget};
use super::herd::Herds;
use super::ledger::Short;
use super::muster::{Muster, Survey};
use super::problem::Hold;
use super::rights::{Evictor, Right, Verdict, right};
use super::score::{SetKey, UnitKey};
use super::space::Count;
use super::state::State;
use super::unit::{Chosen, Found, Unit};
use crate::eviction::EvictionCause;
use chrono::{DateTime, TimeDelta, Utc};
use std::cmp::{Ordering, Reverse};

/// A set has been found, and others may at best be better by fewer or later victims: so many of these are
/// looked at.
const MOST_TIES: usize = 64;

/// A set that was judged as a whole, and the gang's place.
type Proven = (Vec<Chosen>, Vec<Hold>);

/// One search: it borrows the state, changes it while simulating, and leaves it as it was.
#[derive(Debug)]
pub(super) struct Search<'s, 'p, 'a> {
    state: &'s mut State<'p, 'a>,
    herds: &'s mut Herds,
    evictor: Evictor,
    budget: &'s mut Budget,
    chosen: Vec<Chosen>,
    /// The first moment at which a protected unit becomes available.
    pub(super) protected_until: Option<DateTime<Utc>>,
    /// What all candidates hold together.
    pub(super) takeable_milli: i64,
    /// Some unit was refused because its team would fall below its guarantee.
    hit_a_guarantee: bool,
    takes_largest_first: bool,
    /// A set was refused because own work would have left for a right alone.
    bought_a_right: bool,
    /// All units as they were mustered before the first was chosen, until somebody takes them.
    untouched: Option<Muster>,
    /// Its own team has lower classes to give up: with less of its own, the evictor may gain rights.
    gives_up_own: bool,
}

impl<'s, 'p, 'a> Search<'s, 'p, 'a> {
    pub(super) fn new(
        state: &'s mut State<'p, 'a>,
        herds: &'s mut Herds,
        evictor: Evictor,
        budget: &'s mut Budget,
    ) -> Self {
        Self {
            state,
            herds,
            evictor,
            budget,
            chosen: Vec::new(),
            protected_until: None,
            takeable_milli: 0,
            hit_a_guarantee: false,
            takes_largest_first: false,
            bought_a_right: false,
            untouched: None,
            gives_up_own: false,
        }
    }

    /// The best set found: by the policy's order; if guarantees stood in the way, with the largest loans
    /// first; and only if no such set is found, below a guarantee (rule 2.5).
    pub(super) fn run(&mut self) -> Result<Option<Found>, OutOfBudget> {
        let judged = self.herds.judged;
        let muster = self.muster_pool();
        let survey = muster.survey();
        self.untouched = Some(muster).filter(Muster::keeps);
        self.budget.spend(self.herds.judged - judged)?;
        self.takeable_milli = survey.takeable_milli;
        self.gives_up_own = survey.own;
        let free = self.state.space.later.pool_milli[self.evictor.pool];
        let at_most = free + survey.takeable_milli + survey.withheld_milli;
        let too_few = !survey.own && at_most < self.evictor.milli;
        if too_few || (survey.may == 0 && !self.hit_a_guarantee) {
            return Ok(None);
        }
        let mut found = self.run_in_turn()?;
        if found.is_none() && self.bought_a_right && self.evictor.as_of <= self.state.problem.now {
            // As the next plan will see it: what starts now is not taken first any more.
            self.evictor.as_of = self.state.problem.now + TimeDelta::nanoseconds(1);
            found = self.run_in_turn()?;
        }
        let Some(found) = found else { return Ok(None) };
        let runner_up = self.runner_up(&found);
        // Where nothing else works, also those are taken who at first might not be.
        let candidates = survey.may.max(found.victims.len());
        Ok(Some(Found { candidates, runner_up, ..found }))
    }

    fn run_in_turn(&mut self) -> Result<Option<Found>, OutOfBudget> {
        for (largest_first, may_overshoot) in [(false, false), (true, false), (false, true)] {
            if (largest_first || may_overshoot) && !self.hit_a_guarantee {
                break;
            }
            self.takes_largest_first = largest_first;
            self.evictor.may_overshoot = may_overshoot;
            if let Some(found) = self.run_once()? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The first unit in the policy's order whose job was not chosen.
    fn runner_up(&mut self, found: &Found) -> Option<UnitKey> {
        let evictor = Evictor { may_overshoot: false, ..self.evictor };
        let mut muster = Muster::of_pool(self.state, self.herds, &evictor);
        loop {
            let key = muster.next(self.state, self.herds, &evictor)?;
            if found.victims.iter().all(|victim| victim.key.unit.job != key.unit.job) {
                return Some(key);
            }
        }
    }

    fn run_once(&mut self) -> Result<Option<Found>, OutOfBudget> {
        let class = &self.state.problem.classes[self.state.problem.jobs[self.evictor.job].class];
        if let Some(level) = &class.require {
            return Ok(self.best_place(level)?.map(|(_, found)| found));
        }
        let anywhere = self.attempt(&self.state.problem.pool_nodes[self.evictor.pool])?;
        let Some((cost, found)) = anywhere else { return Ok(None) };
        // A preference costs no victim, but decides between sets that cost the same.
        if let Some(level) = class.prefer.as_ref().filter(|_| class.members > 1)
            && !self.is_in_one_place(&found.holds, level)
            && let Some((other, together)) = self.best_place(level)?
            && other.costs_no_more_than(&cost)
        {
            return Ok(Some(together));
        }
        Ok(Some(found))
    }

    /// The best set that lets the whole gang into one place of a level.
    fn best_place(&mut self, level: &str) -> Result<Option<(SetKey, Found)>, OutOfBudget> {
        let problem = self.state.problem;
        let Some(places) = problem.places.get(&(self.evictor.pool, level)) else { return Ok(None) };
        let mut best: Option<(SetKey, Found)> = None;
        for nodes in places {
            if let Some(found) = self.attempt(nodes)?
                && best.as_ref().is_none_or(|(key, _)| found.0 < *key)
            {
                best = Some(found);
            }
        }
        Ok(best)
    }

    fn is_in_one_place(&self, holds: &[Hold], level: &str) -> bool {
        let place = |hold: &Hold| self.state.problem.nodes[hold.node].node.topology.get(level);
        let first = holds.first().and_then(place);
        first.is_some() && holds.iter().all(|hold| place(hold) == first)
    }

    fn attempt(&mut self, nodes: &[usize]) -> Result<Option<(SetKey, Found)>, OutOfBudget> {
        let found = self.make_room(nodes).and_then(|made| {
            if !made || !self.make_quota()? {
                return Ok(None);
            }
            self.give_back_needless()
        });
        self.restore_all();
        let found = found?.map(|(victims, holds)| {
            let keys: Vec<UnitKey> = victims.iter().map(|victim| victim.key).collect();
            let node = holds.first().map_or(0, |hold| hold.node);
            (
                SetKey::new(&keys, node),
                Found { victims, holds, homes: Vec::new(), candidates: 0, runner_up: None },
            )
        });
        Ok(found)
    }

    /// Room for every member on the given nodes, quota aside.
    fn make_room(&mut self, nodes: &[usize]) -> Result<bool, OutOfBudget> {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.evictor.job].class];
        let mut placed: Vec<Hold> = Vec::new();
        let mut complete = true;
        for _ in 0..class.members {
            let free = self.free_for_one(nodes)?;
            let hold = match free {
                Some(holds) => holds.into_iter().next(),
                None => self.make_room_for_one(nodes)?,
            };
            let Some(hold) = hold else {
                complete = false;
                break;
            };
            self.state.space.take(problem, &hold, Count::Later);
            placed.push(hold);
        }
        for hold in &placed {
            self.state.space.give(problem, hold, Count::Later);
        }
        Ok(complete)
    }

    fn free_for_one(&mut self, nodes: &[usize]) -> Result<Option<Vec<Hold>>, OutOfBudget> {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.evictor.job].class];
        let (among, pool) = (Among::Working, self.evictor.pool);
        if class.require.is_some() {
            return fit::place_on(problem, &self.state.space.later, class, nodes, 1, among, self.budget);
        }
        self.state.space.later.settle(problem);
        fit::place_anywhere(problem, &self.state.space.later, class, pool, 1, among, self.budget)
    }

    /// Takes the best set that lets one more member onto one node.
    fn make_room_for_one(&mut self, nodes: &[usize]) -> Result<Option<Hold>, OutOfBudget> {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.evictor.job].class];
        let mut best: Option<(SetKey, usize, Vec<Unit>)> = None;
        let mut looked_at = vec![false; nodes.len()];
        let mut muster = self.muster(nodes);
        let mut ties = 0;
        // A node's set begins with one of its units: once the next unit can begin no better one, nor can the rest.
        while let Some(key) = muster.next(self.state, self.herds, &self.evictor) {
            let set = best.as_ref().map(|(set, _, _)| set.against_all_from(&key, self.gives_up_own));
            ties += usize::from(set == Some(Ordering::Equal));
            if set == Some(Ordering::Less) || ties > MOST_TIES {
                break;
            }
            self.budget.spend(1)?;
            for node in key.unit.nodes(self.state).collect::<Vec<_>>() {
                let Ok(at) = nodes.binary_search(&node) else { continue };
                if std::mem::replace(&mut looked_at[at], true) || !class.node_ok[node] {
                    continue;
                }
                if let Some((key, units)) = self.set_on_node(node)?
                    && best.as_ref().is_none_or(|(least, _, _)| key < *least)
                {
                    best = Some((key, node, units));
                }
            }
        }
        let Some((_, node, units)) = best else { return Ok(None) };
        for unit in units {
            if let Verdict::May(right) = self.judge(unit) {
                self.choose(unit, right);
            }
        }
        Ok(fit::pack(problem, &self.state.space.later, class, node, 1).pop())
    }

    /// The units of the pool that may be taken as things stand, in the policy's order.
    fn muster_pool(&mut self) -> Muster {
        if self.chosen.is_empty()
            && !self.evictor.may_overshoot
            && let Some(muster) = self.untouched.take()
        {
            return muster;
        }
        let muster = Muster::of_pool(self.state, self.herds, &self.evictor);
        self.learn(muster.survey());
        muster
    }

    fn learn(&mut self, survey: Survey) {
        self.hit_a_guarantee |= survey.hits_a_guarantee;
        if let Some(until) = survey.protected_until {
            self.protected_until = Some(self.protected_until.map_or(until, |known| known.min(until)));
        }
    }

    /// The same of those that touch these nodes.
    fn muster(&mut self, nodes: &[usize]) -> Muster {
        if nodes.len() == self.state.problem.pool_nodes[self.evictor.pool].len() {
            return self.muster_pool();
        }
        let mut jobs: Vec<usize> =
            nodes.iter().flat_map(|&node| self.state.on_node[node].iter().copied()).collect();
        jobs.sort_unstable();
        jobs.dedup();
        let muster = Muster::of_jobs(self.state, &self.evictor, jobs.into_iter());
        self.learn(muster.survey());
        muster
    }

    /// The units to take on one node, in order, with the needless given back; nothing stays taken.
    fn set_on_node(&mut self, node: usize) -> Result<Option<(SetKey, Vec<Unit>)>, OutOfBudget> {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.evictor.job].class];
        let before = self.chosen.len();
        let units = self.units_on(node);
        let room = |state: &State<'_, '_>| fit::capacity(problem, &state.space.later, class, node, 1) > 0;
        while !room(self.state) {
            self.budget.spend(units.len() + 1)?;
            let Some((key, right)) = self.best_of(&units) else {
                return Ok(self.single_on_node(node, &units, before));
            };
            self.choose(key.unit, right);
        }
        let mut set: Vec<Unit> = self.chosen[before..].iter().map(|chosen| chosen.key.unit).collect();
        self.restore_down_to(before);
        for unit in set.clone().into_iter().rev() {
            let without: Vec<Unit> = set.iter().copied().filter(|&other| other != unit).collect();
            if self.choose_all(&without, before) && room(self.state) {
                set = without;
            }
        }
        self.restore_down_to(before);
        let judged = self.in_judging_order(&set);
        if !self.choose_all(&judged, before) {
            return Ok(self.single_on_node(node, &units, before));
        }
        let keys: Vec<UnitKey> = self.chosen[before..].iter().map(|chosen| chosen.key).collect();
        self.restore_down_to(before);
        Ok(Some((SetKey::new(&keys, node), keys.into_iter().map(|key| key.unit).collect())))
    }

    /// The best unit that makes the room alone: where the policy's order runs into a guarantee, one right
    /// victim may do what several first ones could not.
    fn single_on_node(&mut self, node: usize, units: &[Unit], before: usize) -> Option<(SetKey, Vec<Unit>)> {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.evictor.job].class];
        let mut best: Option<UnitKey> = None;
        for &unit in units {
            if self.choose_all(&[unit], before)
                && let Some(key) = self.chosen.get(before).map(|chosen| chosen.key)
                && fit::capacity(problem, &self.state.space.later, class, node, 1) > 0
                && best.is_none_or(|least| key < least)
            {
                best = Some(key);
            }
        }
        self.restore_down_to(before);
        best.map(|key| (SetKey::new(&[key], node), vec![key.unit]))
    }

    /// Takes units anywhere in the pool until the request fits its quota at every level.
    fn make_quota(&mut self) -> Result<bool, OutOfBudget> {
        let Evictor { job, pool, milli, .. } = self.evictor;
        while let Err(short) = self.state.quota_later(job, pool, milli) {
            let Some((key, right)) = self.best_under(short)? else { return Ok(false) };
            self.choose(key.unit, right);
        }
        Ok(true)
    }

    /// The best unit of the pool whose leaving helps against what is short.
    fn best_under(&mut self, short: Short) -> Result<Option<(UnitKey, Right)>, OutOfBudget> {
        let helps = |state: &State<'_, '_>, unit: Unit| match short {
            Short::Lending { .. } => true,
            Short::Cap { node, .. } => {
                state.problem.jobs[unit.job].team.is_some_and(|team| state.tree.is_under(team, node))
            }
        };
        let mut muster = self.muster_pool();
        let mut best: Option<UnitKey> = None;
        while let Some(key) = muster.next(self.state, self.herds, &self.evictor) {
            self.budget.spend(1)?;
            if helps(self.state, key.unit) && best.is_none_or(|least| self.is_before(&key, &least)) {
                best = Some(key);
                if !self.takes_largest_first {
                    break;
                }
            }
        }
        let Some(key) = best else { return Ok(None) };
        Ok(match self.judge(key.unit) {
            Verdict::May(right) => Some((key, right)),
            _ => None,
        })
    }

    /// Rule 2.4: gives back, costliest first, each victim without whom the gang still starts and every
    /// other eviction is still rightful.
    fn give_back_needless(&mut self) -> Result<Option<Proven>, OutOfBudget> {
        let mut set: Vec<Unit> = self.chosen.iter().map(|chosen| chosen.key.unit).collect();
        let mut order: Vec<UnitKey> = self.chosen.iter().map(|chosen| chosen.key).collect();
        order.sort_unstable();
        let mut proven = self.prove(&set)?;
        loop {
            let (was_proven, before) = (proven.is_some(), set.len());
            for key in order.iter().rev() {
                if !set.contains(&key.unit) {
                    continue;
                }
                let without: Vec<Unit> = set.iter().copied().filter(|&unit| unit != key.unit).collect();
                if let Some(smaller) = self.prove(&without)? {
                    set = without;
                    proven = Some(smaller);
                }
            }
            // As long as one of them had no right to leave, nobody else could be given back.
            if was_proven || set.len() == before {
                break;
            }
        }
        let Some(proven) = proven else { return Ok(None) };
        if self.buys_a_right(&proven.0)? {
            self.bought_a_right = true;
            return Ok(None);
        }
        Ok(Some(proven))
    }

    /// Whether own work would have to leave for no space and no quota, only to make the team look poorer.
    fn buys_a_right(&mut self, set: &[Chosen]) -> Result<bool, OutOfBudget> {
        if set.iter().all(|chosen| chosen.right.cause != EvictionCause::Rebalance) {
            return Ok(false);
        }
        let (jobs, team) = (&self.state.problem.jobs, Some(self.evictor.team));
        for own in set.iter().filter(|chosen| jobs[chosen.key.unit.job].team == team) {
            self.restore_all();
            for chosen in set.iter().filter(|chosen| chosen.key.unit != own.key.unit) {
                self.choose(chosen.key.unit, chosen.right);
            }
            if self.whole_gang_fits()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Judges a set from scratch: each eviction by right, own team first; then quota, then the gang. The smallest
    /// victim of a team is judged last: each is on loan, at least in part, whoever of them leaves last.
    fn prove(&mut self, set: &[Unit]) -> Result<Option<Proven>, OutOfBudget> {
        self.budget.spend(set.len() + 1)?;
        self.restore_all();
        let judged = self.in_judging_order(set);
        if !self.choose_all(&judged, 0) {
            return Ok(None);
        }
        let rebalances =
            self.chosen.iter().filter(|chosen| chosen.right.cause == EvictionCause::Rebalance).count();
        if rebalances > self.state.rebalance_left {
            return Ok(None);
        }
        Ok(self.whole_gang_fits()?.map(|holds| (self.chosen.clone(), holds)))
    }

    /// The gang's place, and quota for it, without those who are chosen.
    fn whole_gang_fits(&mut self) -> Result<Option<Vec<Hold>>, OutOfBudget> {
        let problem = self.state.problem;
        let Evictor { job, pool, milli, .. } = self.evictor;
        if self.state.quota_later(job, pool, milli).is_err() {
            return Ok(None);
        }
        let class = &problem.classes[problem.jobs[job].class];
        self.state.space.later.settle(problem);
        let view = &self.state.space.later;
        fit::place(problem, view, class, pool, class.members, Among::Working, self.budget)
    }

    /// In the order in which a whole set is judged: own team first (last for an owner, who needs no right from that),
    /// and the smallest last. What starts in this plan is nothing special here: the next plan would judge otherwise.
    fn in_judging_order(&self, set: &[Unit]) -> Vec<Unit> {
        let team = Some(self.evictor.team);
        let mut set = set.to_vec();
        set.sort_by_key(|unit| {
            let is_own = self.state.problem.jobs[unit.job].team == team;
            (is_own == self.evictor.inside, Reverse(unit.milli(self.state)))
        });
        set
    }

    fn judge(&mut self, unit: Unit) -> Verdict {
        let verdict = right(self.state, &self.evictor, unit);
        match verdict {
            Verdict::Protected(until) => {
                self.protected_until = Some(self.protected_until.map_or(until, |known| known.min(until)));
            }
            Verdict::BelowGuarantee => self.hit_a_guarantee = true,
            Verdict::May(_) | Verdict::Never => {}
        }
        verdict
    }
}
