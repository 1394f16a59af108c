//! Victim sets: the whole is simulated before anyone is asked to leave.
//!
//! Room is made member by member, on the node where the best set does it; then quota is made; then
//! every victim that turned out needless is given back and the rest is judged again. A set that does
//! not let the full gang start on concrete GPUs is no set. This module commits nothing.

use super::fit::{self, Among, Budget, OutOfBudget};
use super::ledger::Short;
use super::problem::Hold;
use super::rights::{Evictor, Right, Verdict, eligible_jobs, right, victim_share};
use super::score::{SetKey, UnitKey};
use super::state::State;
use crate::eviction::EvictionCause;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;

/// What leaves as one: a gang with all that is left of it, or one surplus member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unit {
    pub(super) job: usize,
    /// The position of the surplus member among the job's members.
    pub(super) surplus: Option<usize>,
}

impl Unit {
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
    members: Vec<usize>,
}

/// Victims and the space they make.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) victims: Vec<Chosen>,
    pub(super) holds: Vec<Hold>,
    /// Units that could have been chosen before the first was.
    pub(super) candidates: Vec<UnitKey>,
}

/// A set that was judged as a whole, and the gang's place.
type Proven = (Vec<Chosen>, Vec<Hold>);

/// One search: it borrows the state, changes it while simulating, and leaves it as it was.
#[derive(Debug)]
pub(super) struct Search<'s, 'p, 'a> {
    state: &'s mut State<'p, 'a>,
    evictor: Evictor,
    budget: Budget,
    chosen: Vec<Chosen>,
    /// The first moment at which a protected unit becomes available.
    pub(super) protected_until: Option<DateTime<Utc>>,
    /// What all candidates hold together.
    pub(super) takeable_milli: i64,
    /// Some unit was refused because its team would fall below its guarantee.
    hit_a_guarantee: bool,
    largest_first: bool,
    /// By job: may be a victim as far as its team goes; and the nodes where such jobs are.
    eligible: Vec<bool>,
    eligible_jobs: Vec<usize>,
    nodes: Vec<usize>,
}

impl<'s, 'p, 'a> Search<'s, 'p, 'a> {
    pub(super) fn new(state: &'s mut State<'p, 'a>, evictor: Evictor, budget: Budget) -> Self {
        Self {
            state,
            evictor,
            budget,
            chosen: Vec::new(),
            protected_until: None,
            takeable_milli: 0,
            hit_a_guarantee: false,
            largest_first: false,
            eligible: Vec::new(),
            eligible_jobs: Vec::new(),
            nodes: Vec::new(),
        }
    }

    /// Narrows the search to teams from whom the evictor might take anything, now or once its own team's
    /// lower classes have left.
    fn find_eligible(&mut self) {
        self.eligible_jobs = eligible_jobs(self.state, &self.evictor);
        if self.eligible_jobs.is_empty() {
            return;
        }
        self.eligible = vec![false; self.state.jobs.len()];
        for &job in &self.eligible_jobs {
            self.eligible[job] = true;
            self.nodes.extend(self.state.jobs[job].staying().map(|(_, member)| member.hold.node));
        }
        self.nodes.sort_unstable();
        self.nodes.dedup();
    }

    /// The best set found: by the policy's order; if guarantees stood in the way, with the largest loans
    /// first; and only if no such set is found, below a guarantee (rule 2.5).
    pub(super) fn run(&mut self) -> Result<Option<Found>, OutOfBudget> {
        self.find_eligible();
        let candidates = self.candidates();
        if candidates.is_empty() && !self.hit_a_guarantee {
            return Ok(None);
        }
        for (largest_first, may_overshoot) in [(false, false), (true, false), (false, true)] {
            if (largest_first || may_overshoot) && !self.hit_a_guarantee {
                break;
            }
            self.largest_first = largest_first;
            self.evictor.may_overshoot = may_overshoot;
            if let Some(found) = self.run_once()? {
                return Ok(Some(Found { candidates, ..found }));
            }
        }
        Ok(None)
    }

    fn run_once(&mut self) -> Result<Option<Found>, OutOfBudget> {
        let class = &self.state.problem.classes[self.state.problem.jobs[self.evictor.job].class];
        let Some(level) = &class.require else {
            let problem = self.state.problem;
            return self.attempt(&problem.pool_nodes[self.evictor.pool]).map(|found| found.map(|(_, f)| f));
        };
        let problem = self.state.problem;
        let Some(places) = problem.places.get(&(self.evictor.pool, level.as_str())) else { return Ok(None) };
        let mut best: Option<(SetKey, Found)> = None;
        for nodes in places {
            if let Some(found) = self.attempt(nodes)?
                && best.as_ref().is_none_or(|(key, _)| found.0 < *key)
            {
                best = Some(found);
            }
        }
        Ok(best.map(|(_, found)| found))
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
            (SetKey::new(&keys, node), Found { victims, holds, candidates: Vec::new() })
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
            let free = fit::place_on(
                problem,
                &self.state.space.later,
                class,
                nodes,
                1,
                Among::Working,
                &mut self.budget,
            )?;
            let hold = match free {
                Some(holds) => holds.into_iter().next(),
                None => self.make_room_for_one(nodes)?,
            };
            let Some(hold) = hold else {
                complete = false;
                break;
            };
            self.state.space.later.change(problem, &hold, -1);
            placed.push(hold);
        }
        for hold in &placed {
            self.state.space.later.change(problem, hold, 1);
        }
        Ok(complete)
    }

    /// Takes the best set that lets one more member onto one node.
    fn make_room_for_one(&mut self, nodes: &[usize]) -> Result<Option<Hold>, OutOfBudget> {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.evictor.job].class];
        let mut best: Option<(SetKey, usize, Vec<Unit>)> = None;
        let wanted = |node: &usize| class.node_ok[*node] && self.nodes.binary_search(node).is_ok();
        for node in nodes.iter().copied().filter(wanted).collect::<Vec<_>>() {
            self.budget.spend(1)?;
            if let Some((key, units)) = self.set_on_node(node)?
                && best.as_ref().is_none_or(|(least, _, _)| key < *least)
            {
                best = Some((key, node, units));
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

    /// The units to take on one node, in order, with the needless given back; nothing stays taken.
    fn set_on_node(&mut self, node: usize) -> Result<Option<(SetKey, Vec<Unit>)>, OutOfBudget> {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.evictor.job].class];
        let before = self.chosen.len();
        let units = self.units_on(node);
        let room = |state: &State<'_, '_>| fit::capacity(problem, &state.space.later, class, node, 1) > 0;
        while !room(self.state) {
            self.budget.spend(1)?;
            let Some((key, right)) = self.best_of(&units) else {
                return Ok(self.single_on_node(node, &units, before));
            };
            self.choose(key.unit, right);
        }
        let mut set: Vec<Unit> = self.chosen[before..].iter().map(|chosen| chosen.key.unit).collect();
        for unit in set.clone().into_iter().rev() {
            let without: Vec<Unit> = set.iter().copied().filter(|&other| other != unit).collect();
            if self.choose_all(&without, before) && room(self.state) {
                set = without;
            }
        }
        self.choose_all(&set, before);
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
        let mut units: Option<Vec<Unit>> = None;
        while let Err(short) = self.state.quota_later(job, pool, milli) {
            let units = units.get_or_insert_with(|| self.units_in_pool());
            self.budget.spend(units.len())?;
            let under = |unit: &&Unit| match short {
                Short::Lending { .. } => true,
                Short::Cap { node, .. } => self.state.problem.jobs[unit.job]
                    .team
                    .is_some_and(|team| self.state.tree.is_under(team, node)),
            };
            let helping: Vec<Unit> = units.iter().filter(under).copied().collect();
            let Some((key, right)) = self.best_of(&helping) else { return Ok(false) };
            self.choose(key.unit, right);
        }
        Ok(true)
    }

    /// Rule 2.4: gives back, costliest first, each victim without whom the gang still starts and every
    /// other eviction is still rightful.
    fn give_back_needless(&mut self) -> Result<Option<Proven>, OutOfBudget> {
        let mut set: Vec<Unit> = self.chosen.iter().map(|chosen| chosen.key.unit).collect();
        let mut order: Vec<UnitKey> = self.chosen.iter().map(|chosen| chosen.key).collect();
        order.sort_unstable();
        let Some(mut proven) = self.prove(&set)? else { return Ok(None) };
        for key in order.into_iter().rev() {
            let without: Vec<Unit> = set.iter().copied().filter(|&unit| unit != key.unit).collect();
            if let Some(smaller) = self.prove(&without)? {
                set = without;
                proven = smaller;
            }
        }
        Ok(Some(proven))
    }

    /// Judges a set from scratch: each eviction by right, own team first; then quota, then the gang.
    fn prove(&mut self, set: &[Unit]) -> Result<Option<Proven>, OutOfBudget> {
        let problem = self.state.problem;
        self.budget.spend(set.len() + 1)?;
        let Evictor { job, pool, milli, team, .. } = self.evictor;
        let (own, others): (Vec<Unit>, Vec<Unit>) =
            set.iter().partition(|unit| problem.jobs[unit.job].team == Some(team));
        let (first, then) = if self.evictor.inside { (others, own) } else { (own, others) };
        if !self.choose_all(&[first, then].concat(), 0) {
            return Ok(None);
        }
        let rebalances =
            self.chosen.iter().filter(|chosen| chosen.right.cause == EvictionCause::Rebalance).count();
        if rebalances > self.state.rebalance_left || self.state.quota_later(job, pool, milli).is_err() {
            return Ok(None);
        }
        let class = &problem.classes[problem.jobs[job].class];
        let view = &self.state.space.later;
        let holds = fit::place(problem, view, class, pool, class.members, Among::Working, &mut self.budget)?;
        Ok(holds.map(|holds| (self.chosen.clone(), holds)))
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

    fn best_of(&mut self, units: &[Unit]) -> Option<(UnitKey, Right)> {
        let mut best: Option<(UnitKey, Right)> = None;
        for &unit in units {
            if self.is_gone(unit) {
                continue;
            }
            let Verdict::May(right) = self.judge(unit) else { continue };
            let key = UnitKey::new(self.state, unit, right, victim_share(self.state, &self.evictor, unit));
            if best.is_none_or(|(least, _)| self.is_before(&key, &least)) {
                best = Some((key, right));
            }
        }
        best
    }

    fn is_before(&self, left: &UnitKey, right: &UnitKey) -> bool {
        if !self.largest_first {
            return left < right;
        }
        let size = |key: &UnitKey| (key.right, -key.unit.milli(self.state));
        (size(left), left) < (size(right), right)
    }

    /// Judges and takes these units in this order, on top of the first `keep` chosen; false as soon as
    /// one is not rightful.
    fn choose_all(&mut self, units: &[Unit], keep: usize) -> bool {
        self.restore_down_to(keep);
        for &unit in units {
            if self.is_gone(unit) {
                continue;
            }
            let Verdict::May(right) = self.judge(unit) else { return false };
            self.choose(unit, right);
        }
        true
    }

    fn is_gone(&self, unit: Unit) -> bool {
        match unit.surplus {
            Some(at) => self.state.jobs[unit.job].members.get(at).is_none_or(|member| member.leaving),
            None => self.state.jobs[unit.job].staying().next().is_none(),
        }
    }

    /// All units of the pool that might be taken, judged as things stand.
    fn candidates(&mut self) -> Vec<UnitKey> {
        let mut keys = Vec::new();
        let mut takeable: BTreeMap<usize, i64> = BTreeMap::new();
        for unit in self.units_in_pool() {
            let verdict = self.judge(unit);
            if matches!(verdict, Verdict::May(_) | Verdict::Protected(_)) {
                let most = takeable.entry(unit.job).or_default();
                *most = (*most).max(unit.milli(self.state));
            }
            if let Verdict::May(right) = verdict {
                let share = victim_share(self.state, &self.evictor, unit);
                keys.push(UnitKey::new(self.state, unit, right, share));
            }
        }
        self.takeable_milli = takeable.into_values().sum();
        keys.sort_unstable();
        keys
    }

    fn units_on(&self, node: usize) -> Vec<Unit> {
        let on_node = |unit: &Unit| {
            let members = &self.state.jobs[unit.job].members;
            match unit.surplus {
                Some(at) => members[at].hold.node == node,
                None => true,
            }
        };
        let jobs = self.state.on_node[node].iter().filter(|&&job| self.eligible[job]);
        jobs.flat_map(|&job| self.units_of(job)).filter(on_node).collect()
    }

    fn units_in_pool(&self) -> Vec<Unit> {
        self.eligible_jobs.iter().flat_map(|&job| self.units_of(job)).collect()
    }

    /// Rule 2.7 and P8: what is never evicted is no unit.
    fn units_of(&self, job: usize) -> Vec<Unit> {
        let row = &self.state.problem.jobs[job];
        let base = row.job.min_replicas.max(1) as usize;
        let mut units = Vec::new();
        if !row.surplus_never_evicted {
            let surplus = self.state.jobs[job].staying().skip(base);
            units.extend(surplus.map(|(at, _)| Unit { job, surplus: Some(at) }));
        }
        if !row.base_never_evicted && self.state.jobs[job].staying().next().is_some() {
            units.push(Unit { job, surplus: None });
        }
        units
    }

    fn choose(&mut self, unit: Unit, right: Right) {
        let key = UnitKey::new(self.state, unit, right, victim_share(self.state, &self.evictor, unit));
        let chosen = Chosen { key, right, members: unit.members(self.state) };
        self.take_again(&chosen);
        self.chosen.push(chosen);
    }

    fn take_again(&mut self, chosen: &Chosen) {
        for &at in &chosen.members {
            self.state.release(chosen.key.unit.job, at);
        }
    }

    fn put_back(&mut self, chosen: &Chosen) {
        for &at in chosen.members.iter().rev() {
            self.state.restore(chosen.key.unit.job, at);
        }
    }

    fn restore_down_to(&mut self, keep: usize) {
        while self.chosen.len() > keep {
            if let Some(chosen) = self.chosen.pop() {
                self.put_back(&chosen);
            }
        }
    }

    fn restore_all(&mut self) {
        self.restore_down_to(0);
    }
}

impl Chosen {
    pub(super) fn members(&self) -> &[usize] {
        &self.members
    }
}
